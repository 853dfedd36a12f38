/** The thread of response-check.ts: reads the contract apart from the validation of requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export interface SentAnswer {
  operationId: string;
  status: number;
  /** By lower-case name. */
  headers: Record<string, number | string | string[] | undefined>;
  body: string | Uint8Array | null | undefined;
}

/** Where an answer is not what the contract says, without what stands there. */
export interface Violation {
  part: 'status' | 'headers' | 'body';
  /** RFC 6901; of a header `/` and its name. */
  pointer: string;
  /** Of JSON Schema; or `undocumented`, and `json` for a body that is none. */
  keyword: string;
}

const mostListed = 20;

if (parentPort) {
  const port = parentPort;
  const violationsOf = contractCheck(workerData);
  port.on('message', (answers: SentAnswer[]) => port.postMessage(answers.map(violationsOf)));
}

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
 * Reads the contract; each schema is compiled when it is first needed.
 * @param document a bundled OpenAPI 3.1 document.
 * @returns a function that lists the violations of an answer: status, required headers, media type, headers and body
 *   against their schemas. An error of 5xx may be the documented default; a field that the contract does not name is
 *   a violation, although clients are told to expect more: it was not decided on.
 */
export function contractCheck(document: object): (answer: SentAnswer) => Violation[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, multipleOfPrecision: 6, discriminator: true });
  formats.default(ajv);
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
  const compiled = new Map<string, ValidateFunction>();

  return (answer) => {
    const { responses, pointer } = responsesOf.get(answer.operationId) ?? { responses: {}, pointer: '' };
    const status = answer.status in responses || answer.status < 500 ? String(answer.status) : 'default';
    const documented = responses[status];
    if (!documented) return [{ part: 'status', pointer: '', keyword: 'undocumented' }];
    const response = follow(documented, `${pointer}/${status}`);
    return [...headerViolations(response, answer), ...bodyViolations(response, answer)].slice(0, mostListed);
  };

  function headerViolations({ node, pointer }: Located, { headers }: SentAnswer): Violation[] {
    return Object.entries(node.headers ?? {}).flatMap(([name, declared]) => {
      const header = follow(declared, `${pointer}/headers/${segment(name)}`);
      const value = headers[name.toLowerCase()];
      if (value === undefined) return header.node.required ? [inHeader(name, 'required')] : [];
      const validate = validator(`${header.pointer}/schema`);
      if (/^\d+$/.test(String(value)) && validate(Number(value))) return [];
      if (validate(value)) return [];
      return [inHeader(name, validate.errors?.[0]?.keyword ?? '')];
    });
  }

  function bodyViolations({ node, pointer }: Located, { headers, body }: SentAnswer): Violation[] {
    const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString();
    if (!node.content) return text === '' ? [] : [inBody('', 'undocumented')];
    const mediaType = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    if (!(mediaType in node.content)) return [inHeader('Content-Type', 'undocumented')];
    const validate = validator(`${pointer}/content/${segment(mediaType)}/schema`);
    const value = mediaType.endsWith('json') ? parsed(text) : text;
    if (value === undefined) return [inBody('', 'json')];
    return validate(value) ? [] : (validate.errors ?? []).map(asViolation);
  }

  function validator(pointer: string): ValidateFunction {
    const found = compiled.get(pointer) ?? ajv.compile({ $ref: `contract${pointer}` });
    compiled.set(pointer, found);
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

/** Objects without a word on further fields have none; `mapping` is what Ajv's discriminator does not take. */
function closed(document: object): object {
  return JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === 'discriminator') return { propertyName: value.propertyName };
    return value?.properties ? { additionalProperties: false, ...value } : value;
  });
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
