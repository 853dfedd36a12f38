import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

/** Keeps secrets unreadable at rest. */
export interface Seal {
  close(secret: string): Buffer;
  /** @throws when the bytes were sealed with another key or changed since. */
  open(sealed: Buffer): string;
}

/**
 * AES-256-GCM (NIST SP 800-38D): a sealed secret is nonce (12 bytes), tag (16 bytes), ciphertext.
 * @param bytes the key, 32 of them.
 */
export function createSeal(bytes: Buffer): Seal {
  // Imported once: from bytes, each use would import it again, which takes ten times as long as the cipher.
  const key = createSecretKey(bytes);
  return {
    close(secret) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
      decipher.setAuthTag(sealed.subarray(12, 28));
      return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
