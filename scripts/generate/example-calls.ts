import { withDemoIds } from '../../src/contract/demo-ids.ts';
import type { OpenApiDocument, Operation } from './bundle.ts';

/** One request of an operation, as the contract's examples have it. */
export interface Call {
  /** Its operationId. */
  id: string;
  method: string;
  /** Below the address of the API; with the query, if one is required. */
  path: string;
  needsToken: boolean;
  /** Whether it takes an Idempotency-Key. */
  takesKey: boolean;
  /** `json` is its value; undefined for other media types. */
  body: { mediaType: string; text: string; json?: unknown } | undefined;
  returnsJson: boolean;
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  example?: unknown;
}

type Example = { $ref: string } | { value: unknown };

/** A call of every operation: required parameters, the first example of the first media type, ids of the demo account. */
export function exampleCalls(document: OpenApiDocument): Call[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => exampleCall(document, path, method, operation)),
  );
}

function exampleCall(document: OpenApiDocument, path: string, method: string, operation: Operation): Call {
  const { operationId: id, security = [], responses } = operation;
  const parameters = (operation as { parameters?: object[] }).parameters ?? [];
  const declared = parameters.map((parameter) => resolve<Parameter>(document, parameter));
  const required = declared.filter((parameter) => parameter.required);
  const value = ({ name, example }: Parameter) => {
    if (example === undefined) throw new Error(`${id}: the required parameter ${name} has no example`);
    return withDemoIds({ [name]: example })[name];
  };
  const query = new URLSearchParams(
    required
      .filter((parameter) => parameter.in === 'query')
      .flatMap((parameter) =>
        [value(parameter)].flat().map((one): [string, string] => [parameter.name, String(one)]),
      ),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const parameter = required.find((one) => one.in === 'path' && one.name === name);
    if (!parameter) throw new Error(`${id}: the path's parameter ${name} is not declared`);
    return encodeURIComponent(String(value(parameter)));
  });
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {};
  return {
    id,
    method: method.toUpperCase(),
    path: query.size > 0 ? `${filled}?${query}` : filled,
    needsToken: security.some((requirement) => Object.keys(requirement).length > 0),
    takesKey: declared.some(({ name }) => name === 'Idempotency-Key'),
    body: exampleBody(document, operation),
    returnsJson: 'application/json' in (resolve<typeof success>(document, success).content ?? {}),
  };
}

function exampleBody(document: OpenApiDocument, { operationId, requestBody }: Operation): Call['body'] {
  if (!requestBody) return undefined;
  const [mediaType, content] = Object.entries(requestBody.content)[0] as [string, { examples?: object }];
  const [first] = Object.values<Example>(content.examples as Record<string, Example>);
  if (!first) throw new Error(`${operationId}: no example of its body`);
  const value = withDemoIds(resolve<{ value: unknown }>(document, first).value);
  if (mediaType === 'application/json')
    return { mediaType, text: JSON.stringify(value, null, 2), json: value };
  if (mediaType !== 'application/x-www-form-urlencoded') return { mediaType, text: String(value) };
  return { mediaType, text: new URLSearchParams(value as Record<string, string>).toString() };
}

function resolve<T>(document: OpenApiDocument, part: object): T {
  if (!('$ref' in part)) return part as T;
  const names = String(part.$ref).split('/').slice(1);
  return names.reduce<unknown>((within, name) => (within as Record<string, unknown>)[name], document) as T;
}
