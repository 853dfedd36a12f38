import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/**
 * A fresh secret for one endpoint: `whsec_` and 32 random bytes in base64.
 *
 * Source: Standard Webhooks 1.0.0, "Signature scheme" (24 to 64 random bytes, serialised with that prefix).
 */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/**
 * The value of `webhook-signature`: one `v1,<base64 HMAC-SHA256>` for each secret that is still valid, separated
 * by spaces, over `id.timestamp.body`.
 *
 * `id` must hold no full stop, or the signed content would be ambiguous; `timestampSeconds` is Unix seconds; `body`
 * is exactly what is sent. Throws when there is no secret, so that nothing leaves unsigned, or a malformed one.
 *
 * Source: Standard Webhooks 1.0.0, "Signature scheme".
 */
export function sign(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string | Buffer,
): string {
  if (secrets.length === 0) throw new RangeError('a delivery needs at least one secret');
  const head = `${id}.${timestampSeconds}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(head).update(body).digest('base64')}`)
    .join(' ');
}

const prefix = 'whsec_';

// Signing with an imported key takes a fifth of the time that it takes from the text of the secret.
const keys = new Map<string, KeyObject>();
const keptKeys = 10_000;

function keyOf(secret: string): KeyObject {
  const kept = keys.get(secret);
  if (kept !== undefined) return kept;
  const bytes = Buffer.from(secret.slice(prefix.length), 'base64');
  if (!secret.startsWith(prefix) || bytes.length === 0) throw new TypeError('malformed webhook secret');
  if (keys.size >= keptKeys) keys.clear();
  const key = createSecretKey(bytes);
  keys.set(secret, key);
  return key;
}
