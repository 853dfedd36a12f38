import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type OperationId, operations } from '../../generated/operations.ts';
import { launch } from '../../scripts/launch.ts';
import { installTools } from '../../scripts/portable/tools.ts';
import {
  type ExampleWorld,
  exampleRequests,
  type Json,
  startExampleWorld,
} from '../contract/example-world.ts';
import { type Api, createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, root } from '../support/process.ts';

t.setTimeout(280_000);

/*
 * Prism before the live service: it validates each request and each response against a document, and responds with an
 * error of its own where one of them is otherwise.
 */

const ids = Object.keys(operations) as OperationId[];
const tools = installTools();
const directory = t.testdir({});
const violations = 'https://stoplight.io/prism/errors#';

for (const edition of ['openapi.json', 'openapi-3.0.json']) {
  t.test(`Prism finds every request and every response to be what ${edition} says`, async (t) => {
    const world = await startExampleWorld(t);
    const document = readEdition(edition);
    const [proxy, strict] = await Promise.all([
      startPrism(t, world, document),
      startPrism(t, world, withFieldsThatNoneHas(document)),
    ]);
    for (const id of ids) {
      for (const request of exampleRequests(id)) {
        await world.restore();
        const { status, text } = await world.send(id, request, {}, proxy);
        t.match(String(status), /^2/, `${id} ${request.name}: ${text.slice(0, 800)}`);
      }
      // It would let everything pass where it cannot read a schema.
      if (!returnsJson(document, id)) continue;
      const [request = { name: '' }] = exampleRequests(id);
      await world.restore();
      const { status, body } = await world.send(id, request, {}, strict);
      t.equal(status, 500, `${id} lacks a field`);
      t.match(
        body,
        { type: `${violations}VIOLATIONS`, validation: [{ location: ['response', 'body'] }] },
        id,
      );
    }
  });
}

/** Where an enumeration has a null beside `nullable`, Prism adds another, refuses its own schema, and checks nothing. */
function readEdition(edition: string): Json {
  return JSON.parse(readFileSync(join(root, 'generated', edition), 'utf8'), (_, value) =>
    value?.nullable && value.enum
      ? { ...value, enum: value.enum.filter((one: unknown) => one !== null) }
      : value,
  );
}

/** Every response of the operations that succeed has to have a field that the service does not send. */
function withFieldsThatNoneHas(document: Json): Json {
  const changed = structuredClone(document);
  for (const id of ids) {
    for (const content of jsonOf(changed, id))
      content.schema = { allOf: [content.schema, { type: 'object', required: ['planted'] }] };
  }
  return changed;
}

const returnsJson = (document: Json, id: OperationId) => jsonOf(document, id).length > 0;

function jsonOf(document: Json, id: OperationId): Json[] {
  const { path, method } = operations[id];
  return Object.entries<Json>(document.paths[path][method.toLowerCase()].responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => response.content?.['application/json'] ?? []);
}

/** @returns calls through a Prism that validates by the document; gone when the test ends */
async function startPrism(t: Test, { service }: ExampleWorld, document: Json): Promise<Pick<Api, 'call'>> {
  const port = await freePort();
  const file = join(directory, `${port}.json`);
  writeFileSync(file, JSON.stringify(document));
  const program = join(tools, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const proxied = ['proxy', file, `${service.url}/api/v1`, '--errors', '--port', String(port)];
  const prism = launch([process.execPath, program, ...proxied], {});
  t.teardown(() => prism.stop());
  const { api } = service;
  const own = createApi(`http://127.0.0.1:${port}`, api.credentials);
  await eventually('Prism listens', () => fetch(own.url).catch(() => undefined));
  const token = await api.token();
  return {
    // A document's paths begin where its server's URL ends.
    call: (method, path, options) => own.call(method, `/${path}`, { token, ...options }),
  };
}
