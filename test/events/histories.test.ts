import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { beginEpoch } from '../../src/events/epoch.ts';
import { listAllEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startTestService } from '../support/service.ts';

// What real servers do to a feed is tested in test/procedures/. Here rows are taken away as a restore takes them away.

t.test('a reader of events that were lost continues with the next epoch, and repeats nothing', async (t) => {
  const { database, add, read, lose } = await setUp(t);
  await add(2);
  const kept = await read();
  await add(3);
  const lost = await read();
  await lose(3);
  await beginEpoch(database);
  t.same((await read(lost.cursor)).events, [], 'nothing has come instead yet');
  const next = await add(4);
  t.same((await read(lost.cursor)).events, next);
  t.same((await read(kept.cursor)).events, next);
  const [last] = lost.events.slice(-1);
  t.same((await read(undefined, last)).events, [...kept.events, ...next], 'an id says less than a cursor');
});

t.test('an epoch that continues after a loss hides nothing, whether it is ended later or not', async (t) => {
  const { database, add, read, lose } = await setUp(t);
  await add(2);
  const kept = await read();
  await add(3);
  const lost = await read();
  await lose(3);
  const next = await add(2);
  const everything = [...kept.events, ...next];
  t.same((await read(lost.cursor)).events, everything, 'at its position there is nothing yet');
  await beginEpoch(database);
  t.same((await read(lost.cursor)).events, everything, 'the epoch ended before anything came to be there');
  const further = await add(2);
  t.same((await read(lost.cursor)).events, [...everything, ...further]);
  t.same((await read(kept.cursor)).events, [...next, ...further]);
});

t.test('another event at the position of a cursor shows that it is of another history', async (t) => {
  const { add, read, lose } = await setUp(t);
  await add(2);
  const kept = await read();
  await add(2);
  const lost = await read();
  await lose(2);
  const next = await add(3);
  t.same((await read(lost.cursor)).events, [...kept.events, ...next]);
});

t.test(
  'of what an epoch found in the outbox, the history before may have listed the later ones only',
  async (t) => {
    const { api, database } = await startTestService(t);
    const items = await demoItems(api);
    const toggle = async (...some: typeof items) => {
      for (const { path } of some) await api.post(`${path}/toggle`);
    };
    const read = async (after: string): Promise<string[]> =>
      (await api.get(`/events?after_event_id=${after}`)).body.data.map(({ id }: { id: string }) => id);

    await beginEpoch(database);
    await toggle(items[0], items[1]);
    await beginEpoch(database);
    await listAllEvents(database);
    const [first = '', second = ''] = (await api.get('/events')).body.data.map(
      ({ id }: { id: string }) => id,
    );
    t.same(await read(second), [first, second], 'listed before it now, and maybe not before');
    await toggle(items[0], items[1]);
    await listAllEvents(database);
    const [, , third = '', fourth] = await read(second);
    t.same(await read(third), [fourth], 'what the epoch began with is over');
  },
);

interface Page {
  events: string[];
  cursor: string;
}

async function setUp(t: Test) {
  const { api, database } = await startTestService(t, { worker: {} });
  const { account_id } = api.credentials;
  const [item] = await demoItems(api);
  const read = async (cursor?: string, after?: string): Promise<Page> => {
    const from = cursor ? `cursor=${cursor}` : after ? `after_event_id=${after}` : '';
    const { body, text } = await api.get(`/events?${from}`);
    if (!body.data) throw new Error(text);
    return { events: body.data.map(({ id }: { id: string }) => id), cursor: body.resume_cursor };
  };
  /** Toggles so many times. @returns the ids of the events */
  const add = async (count: number): Promise<string[]> => {
    const before = (await read()).events.length;
    for (let n = 0; n < count; n += 1) await api.post(`${item.path}/toggle`);
    return eventually('they are listed', async () => {
      const added = (await read()).events.slice(before);
      return added.length === count && added;
    });
  };
  /** Takes the last events away. */
  const lose = async (count: number): Promise<void> => {
    await sql`
      with lost as (delete from feed where position > (select max(position) - ${count} from feed) returning event_id)
      delete from event using lost where event.event_id = lost.event_id`.execute(database);
    await sql`
      update account_feed set (epoch, position, event_id) = (
        select epoch, position, event_id from feed where feed.account_id = ${account_id}
        order by epoch desc, position desc limit 1
      ) where account_id = ${account_id}`.execute(database);
  };
  return { database, add, read, lose };
}
