import t from 'tap';
import { startTestService } from '../support/service.ts';

t.test('endpoints are listed page by page, each once, without secrets', async (t) => {
  const { api } = await startTestService(t);
  const made: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { body } = await api.post('/webhooks', { url: `https://hooks.example.com/${n}` });
    made.push(body.data.webhook_id);
  }
  const listed: number[] = [];
  let path: string | undefined = '/webhooks?limit=2';
  for (let pages = 0; path; pages += 1) {
    const { body, headers, text } = await api.get(path);
    t.notMatch(text, /whsec_/);
    listed.push(...body.data.map((webhook: { webhook_id: number }) => webhook.webhook_id));
    t.equal(headers['link'] === undefined, body.next_cursor === null);
    path = body.next_cursor && `/webhooks?limit=2&cursor=${body.next_cursor}`;
    t.ok(pages < 3);
  }
  t.same(listed, made);
});

t.test('a client lists the endpoints whose grant lies within its own', async (t) => {
  const { api, client } = await startTestService(t);
  const [first, second] = (await api.get('/locations')).body.data;
  const local = await client({ locations: [first.location_id] });
  const both = await client({ locations: [first.location_id, second.location_id] });
  const stranger = await client({ account: 'Another restaurant group' });
  const url = 'https://hooks.example.com/';
  const whole = (await api.post('/webhooks', { url })).body.data.webhook_id;
  const ofBoth = (await both.post('/webhooks', { url })).body.data.webhook_id;
  const ofLocal = (await local.post('/webhooks', { url })).body.data.webhook_id;

  const listedBy = async (one: typeof api) =>
    (await one.get('/webhooks')).body.data.map((webhook: { webhook_id: number }) => webhook.webhook_id);
  t.same(await listedBy(api), [whole, ofBoth, ofLocal]);
  t.same(await listedBy(both), [ofBoth, ofLocal]);
  t.same(await listedBy(local), [ofLocal]);
  t.same(await listedBy(stranger), []);
});

t.test('a cursor that no response contained, and a limit above the maximum, are refused', async (t) => {
  const { api } = await startTestService(t);
  t.match(await api.get('/webhooks?cursor=nonsense'), {
    status: 422,
    body: { errors: [{ field: 'cursor' }] },
  });
  t.match(await api.get('/webhooks?limit=201'), { status: 422, body: { errors: [{ field: 'limit' }] } });
});
