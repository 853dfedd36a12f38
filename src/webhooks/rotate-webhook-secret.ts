import { sql, type Transaction } from 'kysely';
import type { DB } from '../../generated/database.ts';
import { inTransaction } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { acceptedTags } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { newSecret } from './delivery/signature.ts';
import {
  manageable,
  requireWebhook,
  type Webhook,
  type WebhookKey,
  webhookJson,
  webhookKey,
  webhookTag,
  withSecret,
} from './webhook.ts';

const defaultOverlapSeconds = 86_400;
// Each valid secret adds a signature to the header, which receivers accept at a limited length only.
const keptSecrets = 4;

/** Two rotations at once take turns at the endpoint's row, so that one secret is the current one. */
export async function rotateWebhookSecret(
  call: Call<'rotateWebhookSecret'>,
): Promise<Reply<'rotateWebhookSecret'>> {
  const { database, params, body, caller, headers, seal } = call;
  const key = webhookKey(params, caller);
  const if_match = acceptedTags(headers['if-match']);
  const secret = newSecret();
  const row = await inTransaction(database, async (transaction) => {
    const [changed] = await raiseVersion(transaction, { ...key, if_match });
    if (changed) {
      await retireSecrets(transaction, key, body?.overlap_seconds ?? defaultOverlapSeconds);
      await addSecret(transaction, key, seal.close(secret));
    }
    return changed;
  });
  if (!row) {
    await requireWebhook(database, key);
    throw preconditionFailed();
  }
  return ok(data(withSecret(row.webhook, secret)), { ETag: row.etag });
}

const raiseVersion = statement<
  WebhookKey & { if_match: string[] | null },
  { etag: string; webhook: Json<Webhook> }
>((p) =>
  build
    .updateTable('webhook')
    .set({ version: sql`version + 1`, updated_at: sql`clock_timestamp()` })
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where(manageable(p))
    .where(
      sql<boolean>`(${p('if_match', 'text[]')} is null or ${webhookTag()} = any (${p('if_match', 'text[]')}))`,
    )
    .returning([webhookTag().as('etag'), webhookJson().as('webhook')]),
);

/** Those that would not outlast this moment, or are too many, go; none lives longer than the overlap. */
async function retireSecrets(
  transaction: Transaction<DB>,
  { webhook_id, account_id }: WebhookKey,
  overlapSeconds: number,
): Promise<void> {
  await sql`
    with old as (
      select ctid, row_number() over (order by expires_at desc nulls first, created_at desc) as place,
        least(expires_at, now() + make_interval(secs => ${overlapSeconds})) as ends_at
      from webhook_secret
      where webhook_id = ${webhook_id} and account_id = ${account_id}
    ),
    removed as (
      delete from webhook_secret where ctid in (select ctid from old where place > ${keptSecrets} or ends_at <= now())
    )
    update webhook_secret set expires_at = ends_at
    from old
    where webhook_secret.ctid = old.ctid and place <= ${keptSecrets} and ends_at > now()`.execute(
    transaction,
  );
}

async function addSecret(
  transaction: Transaction<DB>,
  { webhook_id, account_id }: WebhookKey,
  sealed_secret: Buffer,
): Promise<void> {
  await transaction.insertInto('webhook_secret').values({ webhook_id, account_id, sealed_secret }).execute();
}
