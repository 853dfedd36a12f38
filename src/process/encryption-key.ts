import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys of 32 bytes. The first one encrypts, each of them decrypts. */
export type EncryptionKeys = [Buffer, ...Buffer[]];

/** The keys as ENCRYPTION_KEY holds them: 32 bytes in base64 each, with commas between; undefined for anything else. */
export function readEncryptionKeys(text: string): EncryptionKeys | undefined {
  const keys = text.split(',').map((key) => key.trim());
  if (!keys.every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key))) return undefined;
  return keys.map((key) => Buffer.from(key, 'base64')) as EncryptionKeys;
}

/**
 * The key that is kept in the data directory, so that the embedded default needs no set-up; created when missing. The
 * file may hold several, as ENCRYPTION_KEY may.
 * @throws an Error of one line when the directory cannot be used or the file holds something else.
 */
export function keptEncryptionKeys(dataDir: string): EncryptionKeys {
  const file = join(dataDir, 'encryption.key');
  try {
    const keys = readEncryptionKeys(readOrMake(dataDir, file).trim());
    if (keys) return keys;
  } catch (error) {
    throw new Error(
      `DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}; set another, or ENCRYPTION_KEY`,
    );
  }
  throw new Error(`${file} does not hold 32 bytes in base64: restore it, or set ENCRYPTION_KEY`);
}

function readOrMake(dataDir: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  publish(file, randomBytes(32).toString('base64'));
  return readFileSync(file, 'utf8');
}

// The name appears with the whole content, and the first of several processes wins.
function publish(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
