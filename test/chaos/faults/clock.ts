/** Preloaded into a process to put its clock off by CLOCK_OFFSET_MS. */
import { shiftClock } from '../../support/clock.ts';

shiftClock(Number(process.env['CLOCK_OFFSET_MS']));
