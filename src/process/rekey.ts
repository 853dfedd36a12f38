/**
 * Encrypts again everything that is not encrypted with the first key of ENCRYPTION_KEY, while processes serve. A
 * value is replaced only if it is still the one that was decrypted, so values that processes write meanwhile stay. It
 * may be stopped at any point and run again: what is done is skipped. Signing keys come last: a process cannot start
 * without the key with which they are encrypted, so as long as there is something left to do, a missing old key is
 * noticed.
 */
import { sql } from 'kysely';
import { type Database, patient } from '../db/database.ts';
import { type Seal, UnknownKey } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';

/** How many values of each kind were encrypted again. */
export interface Rekeyed {
  stored_responses: number;
  webhook_secrets: number;
  signing_keys: number;
}

/**
 * @param report is told now and then how many of a kind are done.
 * @throws an Error of one line when there is a value that no key decrypts.
 */
export async function rekey(
  database: Database,
  seal: Seal,
  report: (kind: keyof Rekeyed, done: number) => void,
): Promise<Rekeyed> {
  const work = { database: patient(database), seal };
  // Values that name their key can be read by all processes from now on, or rekey should not have been called.
  await nameKeysNow(database, {});
  seal.isNaming = true;
  const done: Rekeyed = { stored_responses: 0, webhook_secrets: 0, signing_keys: 0 };
  const count = (kind: keyof Rekeyed) => (more: number) => {
    done[kind] += more;
    if (more > 0) report(kind, done[kind]);
  };
  await rekeyResponses(work, count('stored_responses'));
  await rekeySecrets(work, count('webhook_secrets'));
  await rekeySigningKeys(work, count('signing_keys'));
  return done;
}

interface Work {
  database: Database;
  seal: Seal;
}

const batch = 100;

/** Goes through all of them by their key, in batches, which is also the order in which it locks them. */
async function rekeyResponses({ database, seal }: Work, count: (more: number) => void): Promise<void> {
  let last: ResponseKey = { client_id: '', account_id: 0, path: '', key: '' };
  for (;;) {
    const page = await selectResponses(database, { ...last, head: seal.head });
    const stale = page.filter((row) => row.sealed !== null);
    if (stale.length > 0) {
      const replaced = await replaceResponses(database, {
        client_ids: stale.map((row) => row.client_id),
        account_ids: stale.map((row) => row.account_id),
        paths: stale.map((row) => row.path),
        keys: stale.map((row) => row.key),
        before: stale.map((row) => row.sealed as Buffer),
        after: stale.map((row) => sealedAnew(seal, 'a stored response', row.sealed as Buffer)),
      });
      count(replaced.length);
    }
    if (page.length < batch) return;
    last = page.at(-1) as ResponseKey;
  }
}

async function rekeySecrets({ database, seal }: Work, count: (more: number) => void): Promise<void> {
  for (;;) {
    const stale = await selectSecrets(database, { head: seal.head });
    for (const { webhook_id, sealed } of stale) {
      const after = sealedAnew(seal, 'a webhook secret', sealed);
      count((await replaceSecret(database, { webhook_id, before: sealed, after })).length);
    }
    if (stale.length === 0) return;
  }
}

async function rekeySigningKeys({ database, seal }: Work, count: (more: number) => void): Promise<void> {
  for (const { kid, sealed } of await selectSigningKeys(database, { head: seal.head })) {
    const after = sealedAnew(seal, 'a signing key', sealed);
    count((await replaceSigningKey(database, { kid, before: sealed, after })).length);
  }
}

function sealedAnew(seal: Seal, what: string, sealed: Buffer): Buffer {
  try {
    return seal.close(seal.openBytes(sealed));
  } catch (error) {
    const advice = error instanceof UnknownKey ? ': add that key to ENCRYPTION_KEY' : '';
    throw new Error(`${what} cannot be read, ${(error as Error).message}${advice}`);
  }
}

const nameKeysNow = statement('rekey.nameKeysNow', () =>
  build.updateTable('sealing').set({ names_keys_from: sql`least(names_keys_from, now())` }),
);

interface ResponseKey {
  client_id: string;
  account_id: number;
  path: string;
  key: string;
}

const selectResponses = statement(
  'rekey.selectResponses',
  (p: Param<ResponseKey & { head: Buffer }>) => sql<ResponseKey & { sealed: Buffer | null }>`
    select client_id, account_id, path, key,
      case when substring(sealed_answer for 8) <> ${p('head', 'bytea')} then sealed_answer end as sealed
    from idempotency_key
    where (client_id, path, key, account_id) >
      (${p('client_id', 'text')}, ${p('path', 'text')}, ${p('key', 'text')}, ${p('account_id', 'bigint')})
    order by client_id, path, key, account_id
    limit ${sql.lit(batch)}`,
);

interface Replacements {
  client_ids: string[];
  account_ids: number[];
  paths: string[];
  keys: string[];
  before: Buffer[];
  after: Buffer[];
}

const replaceResponses = statement(
  'rekey.replaceResponses',
  (p: Param<Replacements>) => sql<object>`
    update idempotency_key as kept
    set sealed_answer = sealed.after, bytes = octet_length(sealed.after)
    from unnest(
      ${p('client_ids', 'text[]')}, ${p('account_ids', 'bigint[]')}, ${p('paths', 'text[]')},
      ${p('keys', 'text[]')}, ${p('before', 'bytea[]')}, ${p('after', 'bytea[]')}
    ) as sealed (client_id, account_id, path, key, before, after)
    where kept.client_id = sealed.client_id and kept.path = sealed.path and kept.key = sealed.key
      and kept.account_id = sealed.account_id and kept.sealed_answer = sealed.before
    returning kept.client_id`,
);

const selectSecrets = statement(
  'rekey.selectSecrets',
  (p: Param<{ head: Buffer }>) => sql<{ webhook_id: number; sealed: Buffer }>`
    select webhook_id, sealed_secret as sealed from webhook_secret
    where substring(sealed_secret for 8) <> ${p('head', 'bytea')}
    limit ${sql.lit(batch)}`,
);

const replaceSecret = statement(
  'rekey.replaceSecret',
  (p: Param<{ webhook_id: number; before: Buffer; after: Buffer }>) => sql<object>`
    update webhook_secret set sealed_secret = ${p('after', 'bytea')}
    where webhook_id = ${p('webhook_id', 'bigint')} and sealed_secret = ${p('before', 'bytea')}
    returning webhook_id`,
);

const selectSigningKeys = statement(
  'rekey.selectSigningKeys',
  (p: Param<{ head: Buffer }>) => sql<{ kid: string; sealed: Buffer }>`
    select kid, sealed_private_key as sealed from signing_key
    where substring(sealed_private_key for 8) <> ${p('head', 'bytea')}`,
);

const replaceSigningKey = statement(
  'rekey.replaceSigningKey',
  (p: Param<{ kid: string; before: Buffer; after: Buffer }>) => sql<object>`
    update signing_key set sealed_private_key = ${p('after', 'bytea')}
    where kid = ${p('kid', 'text')} and sealed_private_key = ${p('before', 'bytea')}
    returning kid`,
);
