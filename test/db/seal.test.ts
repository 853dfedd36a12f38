import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import t from 'tap';
import { createSeal, UnknownKey } from '../../src/db/seal.ts';
import { createXaes } from '../../src/db/xaes.ts';

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

t.test('XAES-256-GCM seals as its specification shows', async (t) => {
  // https://c2sp.org/XAES-256-GCM, test vectors; the tag comes last there.
  const nonce = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX');
  const vectors: [number, string, string][] = [
    [1, '', 'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271'],
    [3, 'c2sp.org/XAES-256-GCM', '986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d'],
  ];
  for (const [byte, additional, expected] of vectors) {
    const xaes = createXaes(Buffer.alloc(32, byte));
    const sealed = xaes.encrypt(nonce, Buffer.from('XAES-256-GCM'), Buffer.from(additional));
    t.equal(Buffer.concat([sealed.subarray(16), sealed.subarray(0, 16)]).toString('hex'), expected);
    t.equal(xaes.decrypt(nonce, sealed, Buffer.from(additional)).toString(), 'XAES-256-GCM');
    t.throws(() => xaes.decrypt(nonce, sealed, Buffer.from('another')));
  }
});

t.test('a sealed value is opened by whoever has its key, wherever it stands', async (t) => {
  const sealed = createSeal(oldKey).close('サーモン');
  t.notOk(sealed.includes('サーモン'));
  for (const seal of [createSeal(oldKey), createSeal(newKey, oldKey), createSeal(oldKey, newKey)]) {
    t.equal(seal.open(sealed), 'サーモン');
    t.equal(createSeal(oldKey, newKey).open(seal.close('')), '', 'the first one seals');
  }
  t.throws(() => createSeal(oldKey).open(createSeal(newKey, oldKey).close('x')), {
    message: /^sealed with the key/,
  });
});

t.test('a value that cannot be opened names the key it needs', async (t) => {
  const sealed = createSeal(oldKey).close('x');
  const [id] = createSeal(oldKey).keyIds;
  t.match(id, /^[0-9a-f]{8}$/);
  t.throws(() => createSeal(newKey).open(sealed), new UnknownKey(sealed));
  t.equal(new UnknownKey(sealed).message, `sealed with the key ${id}`);
});

t.test('a value with one bit changed is not opened, whichever bit it is', async (t) => {
  const seal = createSeal(oldKey);
  const sealed = seal.close('secret');
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    t.throws(() => seal.open(changed), `bit ${bit}`);
  }
  for (const length of [0, 8, 28, 31, 40, sealed.length - 1])
    t.throws(() => seal.open(sealed.subarray(0, length)));
});

t.test('the same secret is never sealed to the same bytes', async (t) => {
  const seal = createSeal(oldKey);
  const sealed = new Set(Array.from({ length: 1_000 }, () => seal.close('secret').toString('hex', 8, 32)));
  t.equal(sealed.size, 1_000);
});

t.test(
  'what the release before has sealed is opened, and the reverse until values name their key',
  async (t) => {
    const seal = createSeal(newKey, oldKey);
    t.equal(seal.open(closeAsBefore(oldKey, 'サーモン')), 'サーモン');
    t.throws(() => createSeal(newKey).open(closeAsBefore(oldKey, 'x')), {
      message: 'sealed with another key',
    });
    seal.isNaming = false;
    t.equal(openAsBefore(newKey, seal.close('サーモン')), 'サーモン');
    t.equal(seal.open(seal.close('サーモン')), 'サーモン');
  },
);

t.test('a value of the previous release that happens to begin like one with a name is opened', async (t) => {
  const named = createSeal(oldKey).close('x');
  const nonce = Buffer.concat([named.subarray(0, 8), randomBytes(4)]);
  const sealed = closeAsBefore(oldKey, 'a secret of some length', nonce);
  t.equal(createSeal(oldKey).open(sealed), 'a secret of some length');
});

// As the release before did it: nonce (12 bytes), tag (16 bytes), ciphertext.
function closeAsBefore(key: Buffer, secret: string, nonce = randomBytes(12)): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function openAsBefore(key: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}
