import { instantOf } from '../hours/instant.ts';
import { entityTags } from '../http/conditional.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { requireReach } from '../records/reach.ts';
import { menuKey } from './menu.ts';
import { keptRules, readRules, selectRulesTag, toldAt } from './menu-rules.ts';

/**
 * Costs one look-up by primary key while nothing relevant has changed; the passing of time alone costs no statement.
 */
export async function getAvailability(call: Call<'getAvailability'>): Promise<Reply<'getAvailability'>> {
  const { database, params, query, caller, headers } = call;
  const key = menuKey(params, caller);
  const [current] = await selectRulesTag(database, key);
  const { etag, now } = requireReach(current, 'menu');
  const kept = await keptRules(database, params.menu_id, etag, () => readRules(database, key));
  if (!kept) throw notFound('There is no such menu.');

  const asked = query.at === undefined ? undefined : instantOf(query.at, kept.rules.timezone);
  const told = await toldAt(kept, asked ?? now, { keep: asked === undefined });
  // If nothing changes, the next response is the same, whichever process sends it and when.
  const state = asked === undefined ? `${told.until ?? 'end'}` : `at${asked}`;
  const cacheControl = maxAge(asked === undefined ? told.until : null, now);
  const tag = `"${kept.etag}-${state}-`;
  const own = currentTag(headers['if-none-match'], tag);
  if (own !== undefined)
    return { status: 304, headers: { ETag: own, 'Cache-Control': cacheControl }, body: undefined };
  return ok(told.body, { ETag: `${tag}${told.at}"`, 'Cache-Control': cacheControl });
}

/** The ETag of the client's copy, if it is still valid; `state` is the beginning of such ETags. */
function currentTag(ifNoneMatch: string | undefined, state: string): string | undefined {
  if (ifNoneMatch?.trim() === '*') return `${state}0"`;
  return entityTags(ifNoneMatch ?? '')
    .map((sent) => sent.replace(/^W\//, ''))
    .find((sent) => sent.startsWith(state));
}

// A browser shows a switch at most this late, as fetch() asks again only then.
const longestSeconds = 10;

function maxAge(until: number | null, now: number): string {
  const left = until === null ? longestSeconds : Math.floor((until - now) / 1_000);
  return `private, max-age=${Math.max(0, Math.min(longestSeconds, left))}`;
}
