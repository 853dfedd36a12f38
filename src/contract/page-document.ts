import { withDemoIds, withDemoIdsInText } from './demo-ids.ts';

export type CodeSamples = Record<string, readonly object[]>;

interface Document {
  info: { title: string; description: string; 'x-guide': string };
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter>; examples: Record<string, Example> };
}

interface Operation {
  operationId: string;
  description: string;
  parameters?: (Parameter | { $ref: string })[] | undefined;
  requestBody?: { content: Record<string, { examples?: Record<string, Example | { $ref: string }> }> };
}

interface Parameter {
  name: string;
  required?: boolean;
  example?: unknown;
  examples?: object;
}

interface Example {
  value: unknown;
}

/** What stands for the address that the page was read from, until the page itself puts it in. */
export const originPlaceholder = 'https://origin.invalid';

/**
 * The contract as the reference page shows it: with code samples, the other editions and the changelog. Requests name
 * records of the demo account. Optional parameters are shown with their example but not sent: it may be a cursor of
 * another list, an If-Match of another state, or an Idempotency-Key already used.
 * @param document the bundled contract; not changed
 * @param changelog in Markdown; its first heading is that of the section
 */
export function pageDocument(document: object, samples: CodeSamples, changelog: string): object {
  const page = structuredClone(document) as Document;
  const { info, paths, components } = page;
  const { shared, parameters } = sharing();
  info.description = [info.description, info['x-guide'], calling, changelog].join('\n\n');
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const bodies = Object.values(operation.requestBody?.content ?? {});
    for (const { examples = {} } of bodies) {
      for (const [name, example] of Object.entries(examples)) {
        const { value, ...words } = resolved(example, components.examples);
        examples[name] = { ...words, value: withDemoIds(value) };
      }
    }
    const names = bodies.flatMap(({ examples = {} }) => Object.keys(examples));
    operation.parameters = operation.parameters?.map((parameter) =>
      shared(
        withExamples(resolved(parameter, components.parameters), names.length > 0 ? names : ['example']),
      ),
    );
    operation.description = withDemoIdsInText(operation.description);
    Object.assign(operation, { 'x-codeSamples': samples[operation.operationId] });
  }
  components.parameters = parameters;
  return page;
}

/** Keeps equal parameters once, since the page is read over slow lines too. */
function sharing() {
  const parameters: Record<string, Parameter> = {};
  const names = new Map<string, string>();
  const shared = (parameter: Parameter) => {
    const text = JSON.stringify(parameter);
    const name = names.get(text) ?? `p${names.size}`;
    names.set(text, name);
    parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  };
  return { shared, parameters };
}

const calling = `# Code samples

Beside each operation stand whole programs in curl, TypeScript, Python, Go and Java. They name records of the demo
account, and take the address of the API and an access token from the environment:

\`\`\`sh
export API=${originPlaceholder}/api/v1
export ACCESS_TOKEN=$(curl -sS -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials $API/oauth/token |
  sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
\`\`\`

# The document

OpenAPI 3.1: [JSON](/openapi.json), [YAML](/openapi.yaml). For tools that do not read 3.1:
[3.0 JSON](/openapi-3.0.json), [3.0 YAML](/openapi-3.0.yaml).`;

/** Scalar takes the value of a parameter from the example that has the name of the one chosen for the body. */
function withExamples({ example, ...parameter }: Parameter, names: string[]): Parameter {
  if (example === undefined) return parameter;
  const { [parameter.name]: value } = withDemoIds({ [parameter.name]: example });
  const one = { value, 'x-disabled': parameter.required !== true };
  return { ...parameter, examples: Object.fromEntries(names.map((name) => [name, one])) };
}

function resolved<T extends object>(part: T | { $ref: string }, named: Record<string, T>): T {
  if (!('$ref' in part)) return part;
  const target = named[part.$ref.split('/').at(-1) ?? ''];
  if (!target) throw new Error(`nothing is at ${part.$ref}`);
  return target;
}
