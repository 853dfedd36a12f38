import { format } from 'sql-formatter';
import type { StatementText } from '../../src/db/statement.ts';

const head = `-- Every SQL statement of the service, by name, as it is prepared on the database.
-- Generated from src/ by \`make generate\`; do not edit.
`;

/** The statements of src/ as one readable file of SQL. */
export async function statementsFile(): Promise<string> {
  // Loads every module that has a statement.
  await import('../../src/process/serve.ts');
  await import('../../src/process/rekey.ts');
  await import('../../src/accounts/change-client.ts');
  const { statementTexts } = await import('../../src/db/statement.ts');
  const statements = statementTexts().sort((a, b) => (a.name < b.name ? -1 : 1));
  return [head, ...statements.map(section)].join('\n');
}

function section({ name, text, parameters, filters }: StatementText): string {
  const places = parameters.map(({ name, type }, index) => `-- $${index + 1} ${name} ${type}`);
  const optional =
    filters.length > 0 ? [`-- Conditions that are there when given: ${filters.join(', ')}`] : [];
  const sql = format(text, { language: 'postgresql', keywordCase: 'lower', expressionWidth: 100 });
  return [`-- ${name}`, ...places, ...optional, `${sql};`, ''].join('\n');
}
