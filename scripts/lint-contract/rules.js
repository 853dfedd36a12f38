import { checks } from '../../src/contract/checks.ts';
import { mayWrite } from '../generate/operation-table.ts';
import { notPortable } from './patterns.ts';

/**
 * Our own rules for the contract that take more than Redocly's configurable rules can say. `redocly.yaml` turns them
 * on and holds the simple ones; `violations.yaml` breaks each of all once.
 */
export default function menuManagementRules() {
  return {
    id: 'contract',
    assertions: { hasType: requireType },
    rules: {
      oas3: {
        'path-kebab-case': PathKebabCase,
        'operation-idempotency-key': OperationIdempotencyKey,
        'operation-tells': OperationTells,
        'operation-deprecation-dated': OperationDeprecationDated,
        'error-is-problem': ErrorIsProblem,
        'schema-named': SchemaNamed,
        'property-described': PropertyDescribed,
        'property-example': PropertyExample,
        'request-object-closed': RequestObjectClosed,
        'response-object-open': ResponseObjectOpen,
        'string-bounded': StringBounded,
        'date-time-plain': DateTimePlain,
        'pattern-portable': PatternPortable,
        'no-multiple-of': NoMultipleOf,
        'check-known': CheckKnown,
        'request-text-checked': RequestTextChecked,
        'link-without-body': LinkWithoutBody,
        'enum-values-own': EnumValuesOwn,
      },
    },
  };
}

/** Paths are in kebab case. The ready-made rule asks it of webhooks too, whose keys are types of events. */
function PathKebabCase() {
  const isKebab = /^(\/([a-z0-9]+(-[a-z0-9]+)*|\{\w+\}))+$/;
  return {
    Paths: {
      PathItem: {
        enter(_, ctx) {
          if (!isKebab.test(ctx.key))
            ctx.report({ message: 'A path must be in kebab case.', location: ctx.location.key() });
        },
      },
    },
  };
}

/**
 * Each POST that writes, but those of the token and revocation endpoints, which take no token, takes an Idempotency-Key,
 * and may return 400 for one that is not valid and 409 for one in use.
 */
function OperationIdempotencyKey() {
  return inPaths((operation, ctx) => {
    if (ctx.key !== 'post' || isOAuthEndpoint(operation) || !mayWrite(ctx.key, operation)) return;
    const keys = (operation.parameters ?? []).filter(
      (parameter) => resolve(ctx, parameter).node.name === 'Idempotency-Key',
    );
    if (keys.length !== 1 || !operation.responses?.['400'] || !operation.responses?.['409']) {
      ctx.report({
        message: 'A POST that writes must have the parameter Idempotency-Key and the responses 400 and 409.',
        location: ctx.location.key(),
      });
    }
  });
}

/** For the configurable rules: a `type` is this one, or a list with it, as of what may be null. */
function requireType(types, type, { baseLocation }) {
  return [types].flat().includes(type)
    ? []
    : [{ message: `should be of type ${type}`, location: baseLocation }];
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const HALF_A_YEAR = 180 * 24 * 60 * 60 * 1000;

/**
 * Each description tells what one must know before calling: the scopes, whether a repeat is safe, the events that a
 * write fires, the headers that guard it, and a quota of its own. (That the named events are the fired ones is seen
 * on the live service, in test/contract/examples.test.ts.)
 */
function OperationTells() {
  return inPaths((operation, ctx) => {
    const { description = '', security = [], parameters = [], 'x-rate-limit': quota } = operation;
    const isTold = description.replaceAll(/\s+/g, ' ');
    const scopes = security.flatMap((requirement) => Object.values(requirement).flat());
    const headers = parameters
      .map((parameter) => resolve(ctx, parameter).node.name)
      .filter((name) => ['If-Match', 'Idempotency-Key'].includes(name));
    const wanted = [
      ...(scopes.length > 0 ? ['Scope: '] : []),
      ...[...scopes, ...headers].map((name) => `\`${name}\``),
      ...(quota ? [` ${quota.limit} `] : []),
    ].filter((words) => !isTold.includes(words));
    if (!/safe to repeat|always safe/i.test(isTold)) wanted.push('Safe to repeat');
    if (scopes.length > 0 && ctx.key !== 'get' && !/\b(Events?: |Fires no event)/.test(isTold))
      wanted.push('Event: ');
    if (wanted.length > 0) {
      ctx.report({
        message: `The description must contain: ${wanted.join(', ')}.`,
        location: at(ctx, operation, 'description'),
      });
    }
  });
}

/** Who deprecates an operation says since when, until when it is served, and where to read what to use instead. */
function OperationDeprecationDated() {
  return inPaths((operation, ctx) => {
    const { deprecated, 'x-deprecation': told } = operation;
    if (!deprecated && told === undefined) return;
    const { since, sunset, link } = told ?? {};
    const isDated = [since, sunset].every((date) => DATE.test(date) && Date.parse(date) > 0);
    const isLong = Date.parse(sunset) - Date.parse(since) >= HALF_A_YEAR;
    const isLinked = /^(https:\/\/|\/)[^\s<>"]+$/.test(link);
    if (deprecated !== true || !isDated || !isLong || !isLinked) {
      ctx.report({
        message:
          'A deprecated operation must have `deprecated: true` and `x-deprecation` with the dates `since` and ' +
          '`sunset`, at least 180 days later, and a `link`: an https address or a path of this service.',
        location: at(ctx, operation, 'x-deprecation'),
      });
    }
  });
}

/** Each error response is `application/problem+json` with the schema Error; the endpoints of RFC 6749 and RFC 7009 may also use OAuthError. */
function ErrorIsProblem() {
  return inPaths((operation, ctx) => {
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      if (!/^([45]|default$)/.test(status)) continue;
      const { content } = resolve(ctx, response).node;
      if (isOnly(content, 'application/problem+json', 'Error')) continue;
      if (isOAuthEndpoint(operation) && isOnly(content, 'application/json', 'OAuthError')) continue;
      ctx.report({
        message: `Response ${status} must be application/problem+json with the schema Error, and nothing else.`,
        location: ctx.location.child(['responses', status]).key(),
      });
    }
  });
}

/** The endpoints that authenticate the client by its secret. */
function isOAuthEndpoint({ operationId }) {
  return ['issueToken', 'revokeToken'].includes(operationId);
}

function isOnly(content, mediaType, schemaName) {
  const reference = content?.[mediaType]?.schema?.$ref ?? '';
  return Object.keys(content ?? {}).length === 1 && nameOf(reference) === schemaName;
}

/** Schemas of objects, unions and enums are components, so that generated code has a name for them. */
function SchemaNamed() {
  return eachSchema((schema, ctx) => {
    const union = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
    const isNullableReference = union.length === 2 && union.some((member) => member.type === 'null');
    const wantsName =
      hasType(schema, 'object') || schema.properties || schema.enum || (union.length && !isNullableReference);
    if (wantsName && !isNamed(ctx)) {
      ctx.report({
        message: 'A schema of an object, a union or an enum must be a component of its own.',
        location: ctx.location.key(),
      });
    }
  });
}

/** Each property has a description, its own or that of the schema it refers to. */
function PropertyDescribed() {
  return eachProperty((name, property, ctx) => {
    if (!firstInChain(ctx, property, 'description')) {
      ctx.report({
        message: `Property ${name} needs a description.`,
        location: ctx.location.child(name).key(),
      });
    }
  });
}

/** Each property has an example, its own or that of the schema it refers to; objects have those of their properties. */
function PropertyExample() {
  return eachProperty((name, property, ctx) => {
    const { node, from } = resolve(ctx, property);
    const item = node.items ? resolve(ctx, node.items, from).node : node;
    if (isComposite(node) || isComposite(item)) return;
    if (firstInChain(ctx, property, 'example') === undefined) {
      ctx.report({
        message: `Property ${name} needs an example.`,
        location: ctx.location.child(name).key(),
      });
    }
  });
}

function isComposite(schema) {
  return Boolean(hasType(schema, 'object') || schema.properties || schema.oneOf || schema.anyOf);
}

/** Objects of a JSON request refuse fields that they do not name, so that no typing error goes unnoticed. */
function RequestObjectClosed() {
  return eachObject((schema, isRequested) =>
    isRequested && schema.additionalProperties !== false
      ? 'An object of a request needs `additionalProperties: false`.'
      : undefined,
  );
}

/** All other objects may gain fields: a client generated from a closed schema would refuse a response that did. */
function ResponseObjectOpen() {
  return eachObject((schema, isRequested) =>
    !isRequested && schema.additionalProperties === false
      ? 'An object that only responses contain must not have `additionalProperties: false`.'
      : undefined,
  );
}

/** A string has an end: its own, or that of the form that `date-time` gives it. */
function StringBounded() {
  return schemasWith(
    (schema) => hasType(schema, 'string') && schema.format !== 'date-time',
    (schema) => ['maxLength', 'enum', 'const'].some((keyword) => keyword in schema),
    'A string needs `maxLength`, unless it is an enum, a constant or a date-time.',
  );
}

/** Generators make a type of dates of it, which has neither pattern nor length. */
function DateTimePlain() {
  return schemasWith(
    (schema) => schema.format === 'date-time',
    (schema) =>
      !['pattern', 'minLength', 'maxLength'].some((keyword) => keyword in schema) && schema['x-check'],
    'A date-time must have no pattern and no length; `x-check` says what is accepted.',
  );
}

function PatternPortable() {
  return eachSchema((schema, ctx) => {
    const reason = schema.pattern === undefined ? undefined : notPortable(schema.pattern);
    if (reason) {
      ctx.report({
        message: `This pattern does not mean the same to every client's tools: ${reason}.`,
        location: ctx.location.child('pattern'),
      });
    }
  });
}

/** In binary 0.29 is no multiple of 0.01, so that validators refuse right prices. */
function NoMultipleOf() {
  return schemasWith(
    (schema) => 'multipleOf' in schema,
    () => false,
    'Validators divide in binary: `x-check: thousandths` in place of `multipleOf`.',
  );
}

/** The service knows the check, and it is one of such values. */
function CheckKnown() {
  return schemasWith(
    (schema) => 'x-check' in schema,
    (schema) => hasType(schema, checks[schema['x-check']]?.type),
    'This `x-check` is not in src/contract/checks.ts, or not for values of this type.',
  );
}

/** No text that a client sends reaches the database unread: NUL would fail there, half a surrogate pair be changed. */
function RequestTextChecked() {
  const requested = new Set();
  const texts = new Map();
  return {
    Schema: {
      enter(schema, { location }) {
        if (hasType(schema, 'string')) texts.set(schema, location);
      },
    },
    Paths: {
      Parameter: {
        enter({ in: place, schema }, ctx) {
          // A header can hold neither.
          if (place !== 'header') addReachable(requested, ctx, schema);
        },
      },
      RequestBody: {
        MediaType: {
          enter({ schema }, ctx) {
            if (ctx.key !== 'text/csv') addReachable(requested, ctx, schema);
          },
        },
      },
    },
    Root: {
      leave(_, ctx) {
        for (const [schema, location] of texts) {
          const isChecked = ['x-check', 'pattern', 'enum', 'const'].some((keyword) => keyword in schema);
          if (isChecked || !requested.has(schema)) continue;
          const message =
            'Text of a request needs `x-check` or a pattern, as NUL must not reach the database.';
          ctx.report({ message, location: location.key() });
        }
      },
    },
  };
}

/** Tools take the request body of a link for a fault unless it is a string; ours is `x-request-body`. */
function LinkWithoutBody() {
  return {
    Link: {
      enter(link, ctx) {
        if (!('requestBody' in link)) return;
        ctx.report({
          message: 'A link must have `x-request-body` in place of `requestBody`.',
          location: ctx.location.child('requestBody').key(),
        });
      },
    },
  };
}

/**
 * Generators of languages without name spaces make a constant of each value, and a value of two enumerations does not
 * compile. `shared` of the configuration lists pairs for which docs/clients.md names a remedy.
 */
function EnumValuesOwn({ shared = [] }) {
  const enums = new Map();
  return {
    Schema: {
      enter(schema, { location }) {
        if (schema.enum) enums.set(enumName(location), { values: schema.enum, location });
      },
    },
    Root: {
      leave(_, ctx) {
        for (const [name, { values, location }] of enums) {
          for (const [other, { values: others }] of enums) {
            const common = values.find((value) => others.includes(value));
            if (other >= name || common === undefined) continue;
            if (shared.some((pair) => pair.includes(name) && pair.includes(other))) continue;
            const message = `The enumerations ${other} and ${name} must not share the value ${common}.`;
            ctx.report({ message, location: location.key() });
          }
        }
      },
    },
  };
}

/** Of the component in a bundled document, or of its file. */
function enumName({ pointer, source }) {
  return (
    /^#\/components\/schemas\/([^/]+)$/.exec(pointer)?.[1] ??
    `${nameOf(source.absoluteRef)}${pointer.slice(2)}`
  );
}

/** Checks each object, knowing whether a JSON request may hold it. (RFC 6749 has forms ignore unknown fields.) */
function eachObject(check) {
  const objects = new Map();
  const requested = new Set();
  return {
    Schema: {
      enter(schema, { location }) {
        if (hasType(schema, 'object') || schema.properties) objects.set(schema, location);
      },
    },
    Paths: {
      RequestBody: {
        MediaType: {
          enter({ schema }, ctx) {
            if (ctx.key === 'application/json') addReachable(requested, ctx, schema);
          },
        },
      },
    },
    Root: {
      leave(_, ctx) {
        for (const [schema, location] of objects) {
          const message = check(schema, requested.has(schema));
          if (message) ctx.report({ message, location: location.key() });
        }
      },
    },
  };
}

/** Adds `value` and all that it holds or refers to. */
function addReachable(nodes, ctx, value, origin) {
  const { node, from } = resolve(ctx, value, origin);
  if (node === null || typeof node !== 'object' || nodes.has(node)) return;
  nodes.add(node);
  for (const part of Object.values(node)) addReachable(nodes, ctx, part, from);
}

function inPaths(check) {
  return { Paths: { Operation: { enter: (operation, ctx) => check(operation, ctx) } } };
}

function eachSchema(check) {
  return { Schema: { enter: (schema, ctx) => check(schema, ctx) } };
}

/** Reports each schema that is `concerned` and not `right`. */
function schemasWith(isConcerned, isRight, message) {
  return eachSchema((schema, ctx) => {
    if (isConcerned(schema) && !isRight(schema)) ctx.report({ message, location: ctx.location.key() });
  });
}

function eachProperty(check) {
  return {
    SchemaProperties: {
      enter(properties, ctx) {
        for (const [name, property] of Object.entries(properties)) check(name, property, ctx);
      },
    },
  };
}

/** A schema has a name when a `$ref` leads to it, or when it stands in `components.schemas` itself. */
function isNamed(ctx) {
  return ctx.rawNode.$ref !== undefined || /^#\/components\/schemas\/[^/]+$/.test(ctx.location.pointer);
}

function nameOf(reference) {
  return reference
    .split('/')
    .at(-1)
    .replace(/\.yaml$/, '');
}

function hasType(schema, type) {
  return [schema.type].flat().includes(type);
}

/** Follows `$ref`s to the end; `from` is the file that the result stands in. */
function resolve(ctx, node, from) {
  while (node?.$ref !== undefined) {
    const target = ctx.resolve(node, from);
    if (!target.node) return { node: {}, from };
    node = target.node;
    from = target.location.source.absoluteRef;
  }
  return { node, from };
}

/** The first value of `keyword` on the way from `node` along its `$ref`s, as the nearer one overrides. */
function firstInChain(ctx, node, keyword) {
  let from;
  while (node[keyword] === undefined && node.$ref !== undefined) {
    const target = ctx.resolve(node, from);
    if (!target.node) return undefined;
    node = target.node;
    from = target.location.source.absoluteRef;
  }
  return node[keyword];
}

function at(ctx, operation, key) {
  return operation[key] === undefined ? ctx.location.key() : ctx.location.child(key);
}
