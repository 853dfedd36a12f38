import { bodyLimit } from '../../src/contract/bodies.ts';
import type { OpenApiDocument, Operation } from '../generate/bundle.ts';
import type { Change } from './compare.ts';
import { largestBody } from './largest-body.ts';

/** What breaks a client although no rule of Redocly says so: from a change to its words, or nothing. */
export const ownRules: Record<
  string,
  (change: Change, released: OpenApiDocument) => string | false | undefined
> = {
  // Generated clients make the name of a class of a tag, the name of a type of a schema's, and the name of an
  // argument of a path parameter's.
  'operation-tag-changed': (change) => isModified(change, 'Operation', 'tags') && `Tag ${fromTo(change)}.`,
  'schema-removed': ({ kind, base }) =>
    kind === 'removed' &&
    /^#\/components\/schemas\/[^/]+$/.test(base?.pointer ?? '') &&
    'The named schema was removed or renamed.',
  'path-parameter-renamed': (change) =>
    isModified(change, 'PathItem', 'key') &&
    change.path.startsWith('#/paths/') &&
    change.verdicts.length === 0 &&
    `Path ${fromTo(change)}.`,

  // A check of its own is a bound that Redocly does not know.
  'check-changed': (change) =>
    isModified(change, 'Schema', 'x-check') &&
    change.revision?.value !== undefined &&
    `Check ${fromTo(change)}.`,
  'default-changed': (change) =>
    isModified(change, 'Schema', 'default') &&
    change.base?.value !== undefined &&
    `Default ${fromTo(change)}.`,
  'became-read-only': (change) =>
    isModified(change, 'Schema', 'readOnly') &&
    change.revision?.value === true &&
    'It was made read-only: requests can no longer contain it.',
  'link-removed': ({ kind, typeName }) =>
    kind === 'removed' && /^Link(sMap)?$/.test(typeName) && 'The link was removed.',
  'request-body-added': ({ kind, typeName, path, revision }) =>
    kind === 'added' &&
    typeName === 'RequestBody' &&
    path.startsWith('#/paths/') &&
    revision?.value?.required === true &&
    'A required request body was added.',
  'response-header-became-optional': (change) =>
    isModified(change, 'Header', 'required') &&
    change.base?.value === true &&
    'The header is no longer always sent.',

  // A limit that every valid body keeps is not lower for anybody.
  'body-limit-lowered': (change, released) =>
    isModified(change, 'Operation', 'x-body-limit') &&
    (change.revision?.value ?? bodyLimit) < (change.base?.value ?? bodyLimit) &&
    (change.revision?.value ?? bodyLimit) < largestBody(released, operationAt(released, change.path)) &&
    `Largest body ${fromTo(change)}.`,
  'rate-limit-lowered': ({ path, kind, property, base, revision }) =>
    path.endsWith('/x-rate-limit') &&
    (kind === 'added' ||
      (property === 'limit' && revision?.value < base?.value) ||
      (property === 'window_seconds' && revision?.value > base?.value)) &&
    `\`${property ?? 'x-rate-limit'}\` is ${JSON.stringify(revision?.value)} now.`,

  'token-url-changed': (change) => change.property === 'tokenUrl' && `\`tokenUrl\` ${fromTo(change)}.`,

  // The key of a webhook is the type of the event. Its parameters are headers that we send.
  'webhook-renamed': (change) =>
    isModified(change, 'PathItem', 'key') &&
    change.path.startsWith('#/webhooks/') &&
    `The name of the event ${fromTo(change)}.`,
  'webhook-header-removed': ({ kind, typeName, path, base }) =>
    kind === 'removed' &&
    path.startsWith('#/webhooks/') &&
    ((typeName === 'Parameter' && `Header \`${base?.value?.name ?? path}\` was removed.`) ||
      (typeName === 'ParameterList' && 'All headers were removed.')),
  'webhook-header-became-optional': (change) =>
    isModified(change, 'Parameter', 'required') &&
    change.path.startsWith('#/webhooks/') &&
    change.base?.value === true &&
    'The header is no longer always sent.',
  'discriminator-changed': (change) =>
    (isModified(change, 'Discriminator', 'propertyName') && `\`propertyName\` ${fromTo(change)}.`) ||
    (change.kind === 'removed' && change.typeName === 'Discriminator' && 'It was removed.'),
};

/**
 * Whether the contract promises that there will be no more of these. It says that events may gain types and errors
 * may gain codes, and that clients must ignore what they do not know; every other enumeration is complete.
 */
export function isPromised(rule: string, pointer: string, change: Change): boolean {
  const { kind } = change;
  const open = /^#\/components\/schemas\/(EventType|EventTypeFilter|WebhookPayload|OAuthErrorCode)\//.test(
    pointer,
  );
  const gain = rule === 'enum-values-added' || (rule === 'schema-combinator-changed' && kind === 'added');
  return !(open && gain) && !(pointer === '#/components/schemas/RecordName/pattern' && gainsKinds(change));
}

/** With a type of events may come a kind of record that they are about. */
function gainsKinds({ base, revision }: Change): boolean {
  const [was, is] = [base, revision].map((side) => /^\^\(([a-z_|]+)\)(.*)$/.exec(String(side?.value)));
  const kinds = is?.[1]?.split('|') ?? [];
  return was?.[2] === is?.[2] && (was?.[1]?.split('|') ?? ['']).every((kind) => kinds.includes(kind));
}

function isModified({ kind, typeName, property }: Change, type: string, name: string): boolean {
  return kind === 'modified' && typeName === type && property === name;
}

function fromTo({ base, revision }: Change): string {
  const [was, is] = [base, revision].map((side) => JSON.stringify(side?.value) ?? 'none');
  return `changed from ${was} to ${is}`;
}

/** @param path a pointer to an operation, or into it */
function operationAt({ paths }: OpenApiDocument, path: string): Operation {
  const [, , name = '', method = ''] = path
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const operation = paths[name]?.[method];
  if (!operation) throw new Error(`there is no operation at ${path}`);
  return operation;
}
