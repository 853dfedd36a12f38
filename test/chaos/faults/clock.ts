/** To be preloaded: the clock of this process is off by CLOCK_OFFSET_MS. */
import { shiftClock } from '../../support/clock.ts';

shiftClock(Number(process.env['CLOCK_OFFSET_MS']));
