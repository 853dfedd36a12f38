import type { Statement } from '../db/statement.ts';
import { type ApiError, parameterError } from '../http/errors.ts';

/** The errors that violated constraints stand for, by the constraints' names in the database. */
export type ConstraintErrors = Readonly<Record<string, () => ApiError>>;

/** A statement whose violations of these constraints are errors of the API. */
export function onConstraint<Values, Row>(
  execute: Statement<Values, Row>,
  errors: ConstraintErrors,
): Statement<Values, Row> {
  return async (database, values) => {
    try {
      return await execute(database, values);
    } catch (error) {
      const { constraint = '' } = error as { constraint?: string };
      throw errors[constraint]?.() ?? error;
    }
  };
}

/** The 422 for an `external_id` that another record of the same parent has. */
export function externalIdTaken(): ApiError {
  return parameterError([
    { field: '/external_id', code: 'taken', message: 'is already used by another record' },
  ]);
}
