import t from 'tap';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { ApiResponse } from '../support/api.ts';
import {
  describedOperation,
  exampleRequests,
  type Json,
  resolve,
  startExampleWorld,
} from './example-world.ts';

/*
 * Every link of the contract, followed: the operation that has it is called with its first example, what the link
 * takes from the answer must be there, and the operation that it leads to must succeed with it.
 */

const linked = Object.keys(operations).flatMap((key) => {
  const id = key as OperationId;
  return Object.entries<Json>(describedOperation(id).responses).flatMap(([status, response]) =>
    Object.entries<Json>(resolve(response).links ?? {}).map(([name, link]) => ({
      id,
      name,
      status: Number(status),
      link: resolve(link) as Link,
    })),
  );
});

interface Link {
  operationId: OperationId;
  parameters?: Record<string, string>;
  'x-request-body'?: Json;
}

t.test('every link leads to a success', async (t) => {
  const world = await startExampleWorld(t);
  for (const { id, name, status, link } of linked) {
    await world.restore();
    const [request = { name: '' }] = exampleRequests(id);
    const reply = await world.send(id, request);
    t.equal(reply.status, status, `${id} ${reply.text}`);
    const parameters = evaluated(link.parameters ?? {}, reply);
    const [example = { name: '' }] = exampleRequests(link.operationId);
    const template = link['x-request-body'];
    const body = template && { mediaType: 'application/json', value: evaluated(template, reply) };
    const followed = await world.send(link.operationId, { ...example, ...body }, parameters);
    t.match(String(followed.status), /^2/, `${id} -> ${name}: ${followed.status} ${followed.text}`);
  }
});

t.test('every operation that creates a record links to what reads, changes and removes it', async (t) => {
  const creates = Object.keys(operations).filter((id) => id.startsWith('create'));
  t.ok(creates.length >= 5);
  for (const create of creates) {
    const links = linked.filter(({ id }) => id === create).map(({ link }) => link.operationId);
    for (const verb of ['get', 'update', 'delete']) {
      const wanted = create.replace('create', verb);
      t.ok(links.includes(wanted as OperationId), `${create} -> ${wanted}`);
    }
  }
});

t.test('a link that needs a field missing from the response is found', async (t) => {
  const reply = { body: { data: { menu_id: 7 } } } as ApiResponse;
  t.strictSame(evaluated({ menu_id: '$response.body#/data/menu_id', name: 'Lunch' }, reply), {
    menu_id: 7,
    name: 'Lunch',
  });
  t.throws(() => evaluated({ menu_id: '$response.body#/data/0/menu_id' }, reply), /nothing at/);
  t.throws(() => evaluated({ menu_id: '$request.path.menu_id' }, reply), /not an expression known here/);
});

/** The value with each runtime expression (OpenAPI 3.1, section 4.8.20.4) replaced by what it names in the answer. */
function evaluated(value: Json, reply: ApiResponse): Json {
  if (Array.isArray(value)) return value.map((one) => evaluated(one, reply));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, evaluated(one, reply)]));
  if (typeof value !== 'string' || !value.startsWith('$')) return value;
  const [source, pointer] = value.split('#/');
  if (source !== '$response.body' || !pointer) throw new Error(`${value} is not an expression known here`);
  const found = pointer.split('/').reduce((node: Json, key) => node?.[key], reply.body);
  if (found === undefined || found === null)
    throw new Error(`nothing at ${value}: ${JSON.stringify(reply.body)}`);
  return found;
}
