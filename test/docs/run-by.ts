/** The test that runs the blocks below a heading. It takes them with blocksRunBy, so that it runs what is shown. */
export const runBy: Record<string, string> = {
  'README.md > Start': 'test/docs/readme.test.ts',
  'README.md > A walk through it': 'test/docs/readme.test.ts',
  'CONTRIBUTING.md > Add an operation': 'test/tools/add-an-operation.test.ts',
  'CONTRIBUTING.md > Remove an operation': 'test/tools/deprecation.test.ts',
  'docs/clients.md > A day in a restaurant': 'test/docs/clients.test.ts',
  'docs/clients.md > Morning: import the menu': 'test/docs/clients.test.ts',
  'docs/clients.md > 19:30: out of salmon until tomorrow': 'test/docs/clients.test.ts',
  "docs/clients.md > A new price, without undoing somebody else's change": 'test/docs/clients.test.ts',
  'docs/clients.md > What happened?': 'test/docs/clients.test.ts',
  'docs/operations.md > Start it': 'test/docs/operations.test.ts',
  'docs/operations.md > Clients': 'test/docs/operations.test.ts',
  'docs/operations.md > Health and metrics': 'test/docs/operations.test.ts',
  'docs/webhooks.md > Register an endpoint': 'test/docs/webhooks.test.ts',
  'docs/webhooks.md > TypeScript': 'test/docs/webhook-receiver.test.ts',
  'docs/webhooks.md > When something did not arrive': 'test/docs/webhooks.test.ts',
  'docs/webhooks.md > After an outage': 'test/docs/webhooks.test.ts',
  'docs/webhooks.md > Try it on your own machine': 'test/docs/webhooks.test.ts',
};

const measures = 'takes minutes; benchmarks.test.ts looks its names and options up in --help';

/** Why the blocks below a heading are not run. */
export const notRun: Record<string, string> = {
  'docs/benchmarks.md > Operations': measures,
  'docs/benchmarks.md > Webhooks': measures,
  'docs/benchmarks.md > More operations': measures,
  'docs/benchmarks.md > The price of checking live responses': measures,
  'docs/webhooks.md > Python': 'needs a package from PyPI, which no test installs',
  'docs/webhooks.md > Go': 'needs a Go module, which no test installs',
};
