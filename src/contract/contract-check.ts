/** Holds responses against the contract, apart from the validation of requests: in the tests, and while the service runs. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { withChecks } from './checks.ts';
import { withFormats } from './formats.ts';

export interface SentResponse {
  operationId: string;
  status: number;
  /** By lower-case name. */
  headers: Record<string, number | string | string[] | undefined>;
  body: string | Uint8Array | null | undefined;
}

/** Where a response differs from the contract, without the value at that place. */
export interface Violation {
  part: 'status' | 'headers' | 'body';
  /** RFC 6901; of a header `/` and its name. */
  pointer: string;
  /** Of JSON Schema; or `undocumented`, and `json` for a body that is none. */
  keyword: string;
}

export interface ContractCheck {
  /**
   * The violations of a response: status, required headers, media type, headers and body against their schemas. A
   * status of 5xx may be the documented default.
   */
  ofResponse(response: SentResponse): Violation[];
  /** Those of a value against a schema of the document; a `$ref` in it leads into the document. */
  ofValue(schema: object, value: unknown): Violation[];
}

const mostListed = 20;

/** Headers that mean something to the client wherever they are sent, so that they must be documented there. */
const promises = ['etag', 'link', 'location', 'retry-after', 'www-authenticate'];

interface Node {
  $ref?: string;
  required?: boolean;
  headers?: Record<string, Node>;
  content?: Record<string, unknown>;
}

interface Operation {
  operationId: string;
  responses: Record<string, Node>;
}

/**
 * Reads the contract; each schema is compiled when it is first needed. A field that the contract does not name is a
 * violation, although clients are told to expect more fields: nobody decided to add it.
 * @param document a bundled OpenAPI 3.1 document.
 */
export function contractCheck(document: object): ContractCheck {
  const ajv = withChecks(
    withFormats(new Ajv2020({ strict: false, validateSchema: false, allErrors: true, discriminator: true })),
  );
  ajv.addSchema({ ...closed(document), $id: 'contract' });
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const responsesOf = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => [
        operationId,
        { responses, pointer: `#/paths/${segment(path)}/${method}/responses` },
      ]),
    ),
  );
  const compiled = new Map<object | string, ValidateFunction>();

  return {
    ofResponse(sent) {
      const { responses, pointer } = responsesOf.get(sent.operationId) ?? { responses: {}, pointer: '' };
      const status = sent.status in responses || sent.status < 500 ? String(sent.status) : 'default';
      const documented = responses[status];
      if (!documented) return [{ part: 'status', pointer: '', keyword: 'undocumented' }];
      const response = follow(documented, `${pointer}/${status}`);
      return [...headerViolations(response, sent), ...bodyViolations(response, sent)].slice(0, mostListed);
    },
    ofValue: (schema, value) => violationsOf(validator(schema), value),
  };

  function headerViolations({ node, pointer }: Located, { headers }: SentResponse): Violation[] {
    const documented = Object.entries(node.headers ?? {});
    const names = documented.map(([name]) => name.toLowerCase());
    const undocumented = promises.filter((name) => headers[name] !== undefined && !names.includes(name));
    const wrong = documented.flatMap(([name, declared]) => {
      const header = follow(declared, `${pointer}/headers/${segment(name)}`);
      const value = headers[name.toLowerCase()];
      if (value === undefined) return header.node.required ? [inHeader(name, 'required')] : [];
      const validate = validator({ $ref: `${header.pointer}/schema` });
      if (/^\d+$/.test(String(value)) && validate(Number(value))) return [];
      // What a response depends on beside what the contract says, such as `Origin`, is added to the list.
      if ((name === 'Vary' ? String(value).split(', ') : [value]).some((one) => validate(one))) return [];
      return [inHeader(name, validate.errors?.[0]?.keyword ?? '')];
    });
    return [...wrong, ...undocumented.map((name) => inHeader(name, 'undocumented'))];
  }

  function bodyViolations({ node, pointer }: Located, { headers, body }: SentResponse): Violation[] {
    const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString();
    if (!node.content) return text === '' ? [] : [inBody('', 'undocumented')];
    const mediaType = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    if (!(mediaType in node.content)) return [inHeader('Content-Type', 'undocumented')];
    const value = mediaType.endsWith('json') ? parsed(text) : text;
    if (value === undefined) return [inBody('', 'json')];
    return violationsOf(validator({ $ref: `${pointer}/content/${segment(mediaType)}/schema` }), value);
  }

  function validator(schema: { $ref?: string }): ValidateFunction {
    const key = schema.$ref ?? schema;
    const found = compiled.get(key) ?? ajv.compile(absolute(closed(schema)));
    compiled.set(key, found);
    return found;
  }

  function follow(node: Node, pointer: string): Located {
    if (node.$ref === undefined) return { node, pointer };
    const steps = node.$ref.slice(2).split('/');
    const target = steps.reduce((from: unknown, key) => (from as Record<string, unknown>)[key], document);
    return follow(target as Node, node.$ref);
  }
}

interface Located {
  node: Node;
  /** Of the node in the document, as a URI fragment. */
  pointer: string;
}

/**
 * An object schema without `additionalProperties` allows none; `mapping` is removed because Ajv's discriminator
 * refuses it.
 */
function closed(document: object): object {
  return JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === 'discriminator') return { propertyName: value.propertyName };
    return value?.properties ? { additionalProperties: false, ...value } : value;
  });
}

function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/'));
}

function violationsOf(validate: ValidateFunction, value: unknown): Violation[] {
  return validate(value) ? [] : (validate.errors ?? []).map(asViolation);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asViolation({ instancePath, keyword, params }: ErrorObject): Violation {
  const name = params['missingProperty'] ?? params['additionalProperty'];
  return inBody(name === undefined ? instancePath : `${instancePath}/${escaped(name)}`, keyword);
}

function inBody(pointer: string, keyword: string): Violation {
  return { part: 'body', pointer, keyword };
}

function inHeader(name: string, keyword: string): Violation {
  return { part: 'headers', pointer: `/${name}`, keyword };
}

function segment(name: string): string {
  return encodeURIComponent(escaped(name));
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
