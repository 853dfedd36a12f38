import { restoreDue } from '../records/restore-due.ts';
import { modifiers } from './modifier.ts';

/** Writes down that modifiers are back. @returns how many; more may be due. */
export const restoreDueModifiers = restoreDue(
  'modifierGroups.restoreDueModifiers',
  { ...modifiers, table: 'modifier' },
  { through: 'modifier' },
);
