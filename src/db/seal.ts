/**
 * Encrypts secrets at rest. There may be several keys: the first one encrypts, and all of them decrypt, so that a new
 * key can replace an old one while values of both exist.
 *
 * An encrypted value names its key: mark (4 bytes), key id (4), nonce (24), tag (16), ciphertext; XAES-256-GCM, which
 * also authenticates the first 8 bytes. The previous release only knows a format without a name: nonce (12), tag (16),
 * ciphertext; AES-256-GCM. That format can always be decrypted. It is written as long as `isNaming` is false: `sealing`
 * in the database gives processes of that release time to end.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { createXaes, type Xaes } from './xaes.ts';

export interface Seal {
  /** The ids of the keys, 8 hex digits each, which reveal nothing about the key. The first one encrypts. */
  readonly keyIds: string[];
  /** The first bytes of every value that names the first key. */
  readonly head: Buffer;
  /** Whether values are encrypted in the format that names the key. */
  isNaming: boolean;
  close(secret: string | Buffer): Buffer;
  /** The secret as text. @throws UnknownKey, or an error when the bytes have changed since. */
  open(sealed: Buffer): string;
  /** The same as bytes. */
  openBytes(sealed: Buffer): Buffer;
}

/** A value was encrypted with a key that is not among those given. */
export class UnknownKey extends Error {
  constructor(sealed: Buffer) {
    super(isNamed(sealed) ? `sealed with the key ${idOf(sealed)}` : 'sealed with another key');
  }
}

/** @param keys 32 bytes each. The first one encrypts, each of them decrypts. */
export function createSeal(...keys: [Buffer, ...Buffer[]]): Seal {
  const ring = keys.map(sealingKey) as [SealingKey, ...SealingKey[]];
  const [first] = ring;

  // A value without a name begins with 12 random bytes, which may look like one.
  function openBytes(sealed: Buffer): Buffer {
    const named = isNamed(sealed) && ring.find(({ head }) => head.equals(headOf(sealed)));
    const opened = named ? attempt(() => openNamed(named, sealed)) : undefined;
    const found = opened ?? ring.map(({ key }) => attempt(() => openUnnamed(key, sealed))).find(Boolean);
    if (found) return found;
    if (named) throw new Error('sealed bytes have changed');
    throw new UnknownKey(sealed);
  }

  const seal: Seal = {
    keyIds: ring.map(({ head }) => idOf(head)),
    head: first.head,
    isNaming: true,
    close(secret) {
      const bytes = typeof secret === 'string' ? Buffer.from(secret) : secret;
      return seal.isNaming ? closeNamed(first, bytes) : closeUnnamed(first.key, bytes);
    },
    open: (sealed) => openBytes(sealed).toString(),
    openBytes,
  };
  return seal;
}

interface SealingKey {
  head: Buffer;
  xaes: Xaes;
  key: ReturnType<typeof createSecretKey>;
}

const mark = Buffer.from([0xa7, 0x4d, 0x4d, 0x01]);

function sealingKey(bytes: Buffer): SealingKey {
  const id = createHmac('sha256', bytes).update('menu-management-service key id').digest().subarray(0, 4);
  return { head: Buffer.concat([mark, id]), xaes: createXaes(bytes), key: createSecretKey(bytes) };
}

function isNamed(sealed: Buffer): boolean {
  return sealed.length >= 48 && sealed.subarray(0, 4).equals(mark);
}

function headOf(sealed: Buffer): Buffer {
  return sealed.subarray(0, 8);
}

function idOf(sealed: Buffer): string {
  return sealed.toString('hex', 4, 8);
}

function closeNamed({ head, xaes }: SealingKey, secret: Buffer): Buffer {
  const nonce = randomBytes(24);
  return Buffer.concat([head, nonce, xaes.encrypt(nonce, secret, head)]);
}

function openNamed({ head, xaes }: SealingKey, sealed: Buffer): Buffer {
  return xaes.decrypt(sealed.subarray(8, 32), sealed.subarray(32), head);
}

function closeUnnamed(key: SealingKey['key'], secret: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function openUnnamed(key: SealingKey['key'], sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

function attempt<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
