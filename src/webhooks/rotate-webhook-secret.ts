import { sql } from 'kysely';
import { inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import type { Seal } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';
import {
  acceptedETags,
  eTagMatches,
  type IfMatch,
  newStamp,
  requireWritten,
  type Stamped,
} from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { newSecret } from './delivery/signature.ts';
import {
  manageable,
  requireWebhook,
  type WebhookKey,
  webhookETag,
  webhookJson,
  webhookKey,
  withSecret,
} from './webhook.ts';

const defaultOverlapSeconds = 86_400;
// Each valid secret adds a signature to the header, which receivers accept at a limited length only.
const keptSecrets = 4;

/** Two rotations at once take turns at the endpoint's row, so that one secret is the current one. */
export function rotateWebhookSecret({ seal }: { seal: Seal }) {
  return async (call: Call<'rotateWebhookSecret'>): Promise<Reply<'rotateWebhookSecret'>> => {
    const { database, params, body, caller, headers } = call;
    const key = webhookKey(params, caller);
    const if_match = acceptedETags(headers['if-match']);
    const overlap_seconds = body?.overlap_seconds ?? defaultOverlapSeconds;
    const secret = newSecret();
    const rotated = await inTransaction(database, async (transaction) => {
      const changed = await raiseVersion(transaction, { ...key, if_match, stamp: newStamp() });
      if (changed.length > 0) {
        await retireSecrets(transaction, { ...key, overlap_seconds });
        await addSecret(transaction, { ...key, sealed_secret: seal.close(secret) });
      }
      return changed;
    });
    const { etag, resource } = await requireWritten(rotated, () => requireWebhook(database, key));
    return ok(data(withSecret(resource, secret)), { ETag: etag, 'Cache-Control': 'no-store' });
  };
}

const raiseVersion = statement('webhooks.rotateWebhookSecret', (p: Param<WebhookKey & IfMatch & Stamped>) =>
  build
    .updateTable('webhook')
    .set({ version: sql`version + 1`, stamp: p('stamp', 'integer'), updated_at: sql`clock_timestamp()` })
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where(manageable(p))
    .where(eTagMatches(p, webhookETag()))
    .returning([webhookETag('new').as('etag'), webhookJson('new').as('resource')]),
);

/** Those that would not outlast this moment, or are too many, go; none lives longer than the overlap. */
const retireSecrets = statement(
  'webhooks.rotateWebhookSecret.retire',
  (p: Param<WebhookKey & { overlap_seconds: number }>) => sql<object>`
    with old as (
      select ctid, row_number() over (order by expires_at desc nulls first, created_at desc) as place,
        least(expires_at, now() + make_interval(secs => ${p('overlap_seconds', 'float8')})) as ends_at
      from webhook_secret
      where webhook_id = ${p('webhook_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}
    ),
    removed as (
      delete from webhook_secret
      where ctid in (select ctid from old where place > ${sql.lit(keptSecrets)} or ends_at <= now())
    )
    update webhook_secret set expires_at = ends_at
    from old
    where webhook_secret.ctid = old.ctid and place <= ${sql.lit(keptSecrets)} and ends_at > now()`,
);

const addSecret = statement(
  'webhooks.rotateWebhookSecret.add',
  (p: Param<WebhookKey & { sealed_secret: Buffer }>) =>
    build.insertInto('webhook_secret').values({
      webhook_id: p('webhook_id', 'bigint'),
      account_id: p('account_id', 'bigint'),
      sealed_secret: p('sealed_secret', 'bytea'),
    }),
);
