import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { newSecret, sign } from '../../../src/webhooks/delivery/signature.ts';

const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';

t.test('the test vector of Standard Webhooks is reproduced', async (t) => {
  const signature = sign(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], id, 1614265330, '{"test": 2432232314}');
  t.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

t.test('a new secret is whsec_ and 32 random bytes in base64', async (t) => {
  const secret = newSecret();
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
  t.not(newSecret(), secret);
});

t.test('an independent reader accepts each of two signatures, and no third secret', async (t) => {
  const [current, previous] = [newSecret(), newSecret()];
  const seconds = Math.floor(Date.now() / 1000);
  const body = '{"name":"Käsespätzle 🧀"}';
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': sign([current, previous], id, seconds, body),
  };
  t.equal(headers['webhook-signature'].split(' ').length, 2);
  for (const secret of [current, previous]) {
    t.same(new Webhook(secret).verify(body, headers), { name: 'Käsespätzle 🧀' });
    const alone = { ...headers, 'webhook-signature': sign([secret], id, seconds, body) };
    t.ok(new Webhook(secret).verify(body, alone));
  }
  t.throws(() => new Webhook(newSecret()).verify(body, headers), /No matching signature/);
  t.throws(() => new Webhook(current).verify(`${body} `, headers), /No matching signature/);
});

t.test('text and its bytes have the same signature', async (t) => {
  const secrets = [newSecret()];
  t.equal(sign(secrets, id, 1, 'crème'), sign(secrets, id, 1, Buffer.from('crème')));
});

t.test(
  'nothing is signed without a secret, or with a malformed one, and the error does not show it',
  async (t) => {
    t.throws(() => sign([], id, 1, ''), /at least one secret/);
    for (const secret of ['', 'whsec_', 'bm90IHByZWZpeGVk']) {
      t.throws(() => sign([secret], id, 1, ''), { message: 'malformed webhook secret' });
    }
  },
);
