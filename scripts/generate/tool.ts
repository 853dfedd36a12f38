import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The project's root directory. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs an installed command-line tool in the project's root, off line. @throws with the tool's own words */
export async function tool(name: string, args: string[]): Promise<string> {
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  };
  try {
    const { stdout } = await promisify(execFile)(`${root}/node_modules/.bin/${name}`, args, {
      cwd: root,
      env,
      maxBuffer: 64 << 20,
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${name} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
