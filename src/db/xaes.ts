import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';

/** XAES-256-GCM under one key (https://c2sp.org/XAES-256-GCM). */
export interface Xaes {
  /** @param nonce 24 random bytes. @returns the tag (16 bytes) and the ciphertext. */
  encrypt(nonce: Buffer, text: Buffer, additional: Buffer): Buffer;
  /** @param sealed what `encrypt` returned. @throws when it, the nonce, the key or `additional` is another. */
  decrypt(nonce: Buffer, sealed: Buffer, additional: Buffer): Buffer;
}

/**
 * AES-256-GCM with a separate key for each message, derived from the first half of the nonce. With plain GCM and
 * random nonces of 96 bits, one key may encrypt 2^32 messages (NIST SP 800-38D, section 8.3), which idempotency keys
 * alone could use up in time; with 192 bits it may encrypt 2^80.
 * @param bytes the key, 32 of them.
 */
export function createXaes(bytes: Buffer): Xaes {
  // Created once, since blocks of ECB are independent: creating a cipher takes longer than using it.
  const cipher = createCipheriv('aes-256-ecb', bytes, null).setAutoPadding(false);
  const block = (text: Buffer) => cipher.update(text);
  const subkey = doubled(block(Buffer.alloc(16)));

  // The CMAC of one whole block for each of the two counters (NIST SP 800-108r1, section 4.1; SP 800-38B, section 6.2).
  const messageKey = (nonce: Buffer) => {
    const blocks = Buffer.alloc(32);
    for (const counter of [1, 2]) {
      const offset = 16 * (counter - 1);
      blocks.set([0, counter, 0x58, 0], offset);
      nonce.copy(blocks, offset + 4, 0, 12);
    }
    for (let i = 0; i < 32; i++) blocks[i] = (blocks[i] as number) ^ (subkey[i % 16] as number);
    // Creating a cipher from the bytes of its key takes four times as long.
    return createSecretKey(block(blocks));
  };

  return {
    encrypt(nonce, text, additional) {
      const cipher = createCipheriv('aes-256-gcm', messageKey(nonce), nonce.subarray(12)).setAAD(additional);
      const sealed = [cipher.update(text), cipher.final()];
      return Buffer.concat([cipher.getAuthTag(), ...sealed]);
    },
    decrypt(nonce, sealed, additional) {
      const decipher = createDecipheriv('aes-256-gcm', messageKey(nonce), nonce.subarray(12), tagged)
        .setAAD(additional)
        .setAuthTag(sealed.subarray(0, 16));
      return Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]);
    },
  };
}

// A shorter tag would be easier to guess.
const tagged = { authTagLength: 16 };

// The first subkey of CMAC: a multiplication by x in GF(2^128) (NIST SP 800-38B, section 6.1).
function doubled(block: Buffer): Buffer {
  const shifted = Buffer.alloc(16);
  for (let i = 0; i < 16; i++) shifted[i] = ((block[i] as number) << 1) | ((block[i + 1] ?? 0) >> 7);
  if ((block[0] as number) & 0x80) shifted[15] = (shifted[15] as number) ^ 0x87;
  return shifted;
}
