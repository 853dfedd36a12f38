import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { OpenApiDocument } from '../generate/bundle.ts';
import { tool } from '../generate/tool.ts';
import { isPromised, ownRules } from './rules.ts';

/** What two contracts differ in. */
export interface Comparison {
  released: OpenApiDocument;
  revision: OpenApiDocument;
  /** What breaks a client of the released one. */
  findings: Finding[];
  /** The part of the version that must rise with it; undefined: they say the same. */
  bump: 'major' | 'minor' | 'patch' | undefined;
}

export interface Finding {
  rule: string;
  /** Operation or webhook and the place in it; the component, when several share it. */
  where: string;
  message: string;
}

/** A difference as `redocly diff --format json` tells it, as far as it is read here. */
export interface Change {
  kind: 'added' | 'removed' | 'modified';
  /** Redocly's name for the kind of node. */
  typeName: string;
  /** Pointer to the node by the way of its first use. */
  path: string;
  property?: string;
  impact: 'major' | 'minor' | 'patch';
  verdicts: { ruleId: string; message: string; location: { pointer: string } }[];
  base?: Side;
  revision?: Side;
}

interface Side {
  pointer: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever stands there in a contract
  value?: any;
}

/**
 * Compares by `redocly diff`, which tells what is sent from what is received and knows that a webhook turns this
 * round, and by our own rules for what it does not look at.
 * @param releasedFile @param revisionFile bundled contracts, JSON
 * @throws with Redocly's words when one of them cannot be read whole
 */
export async function compare(releasedFile: string, revisionFile: string): Promise<Comparison> {
  const options = ['--config', 'scripts/breaking/redocly.yaml', '--format', 'json', '--fail-on', 'none'];
  const report = JSON.parse(await tool('redocly', ['diff', releasedFile, revisionFile, ...options]));
  const changes: Change[] = report.changes;
  const [released, revision] = await Promise.all([read(releasedFile), read(revisionFile)]);
  const scopes = { before: scopesOf(released), after: scopesOf(revision) };

  const findings = [
    ...changes.flatMap((change) => [...verdicts(change), ...ownVerdicts(change, released)]),
    ...scopes.before.filter((one) => !scopes.after.includes(one)).map(scopeRemoved),
  ].map(({ rule, pointer, message }) => ({ rule, where: place(pointer, released, revision), message }));
  const adds =
    changes.some(({ impact, property }) => impact !== 'patch' || property === 'deprecated') ||
    scopes.after.some((one) => !scopes.before.includes(one));
  const changed = !isDeepStrictEqual(unversioned(released), unversioned(revision));
  const bump = findings.length > 0 ? 'major' : adds ? 'minor' : changed ? 'patch' : undefined;
  return { released, revision, findings, bump };
}

interface Verdict {
  rule: string;
  pointer: string;
  message: string;
}

function verdicts(change: Change): Verdict[] {
  return change.verdicts
    .map(({ ruleId, message, location }) => ({ rule: ruleId, pointer: location.pointer, message }))
    .filter(({ rule, pointer }) => isPromised(rule, pointer, change));
}

function ownVerdicts(change: Change, released: OpenApiDocument): Verdict[] {
  const pointer = (change.kind === 'removed' ? change.base : change.revision)?.pointer ?? change.path;
  return Object.entries(ownRules).flatMap(([rule, judge]) => {
    const message = judge(change, released);
    return message ? [{ rule, pointer, message }] : [];
  });
}

// To Redocly the names of scopes are words for people.
function scopesOf({ components }: OpenApiDocument): string[] {
  return Object.entries(components?.securitySchemes ?? {}).flatMap(([scheme, { flows = {} }]) =>
    Object.entries(flows).flatMap(([flow, { scopes }]) =>
      Object.keys(scopes).map(
        (scope) => `#/components/securitySchemes/${scheme}/flows/${flow}/scopes/${scope}`,
      ),
    ),
  );
}

function scopeRemoved(pointer: string): Verdict {
  const scope = pointer.slice(pointer.lastIndexOf('/') + 1);
  return { rule: 'scope-removed', pointer, message: `Scope \`${scope}\` was removed.` };
}

/** A JSON pointer (RFC 6901) in words: `GET /menus (listMenus) responses/304`, `webhook item.toggled post`. */
function place(pointer: string, ...contracts: OpenApiDocument[]): string {
  const [area, name = '', part = '', ...rest] = pointer
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const inside = [part, ...rest].filter(Boolean).join('/');
  if (area === 'components') return `${name}/${inside}`;
  if (area === 'webhooks') return `webhook ${name} ${inside}`.trim();
  if (area !== 'paths') return [area, name, inside].filter(Boolean).join('/');
  const id = contracts.map(({ paths = {} }) => paths[name]?.[part]?.operationId).find(Boolean);
  return id ? `${part.toUpperCase()} ${name} (${id}) ${rest.join('/')}`.trim() : `${name} ${inside}`.trim();
}

function unversioned({ info, ...contract }: OpenApiDocument): object {
  return { ...contract, info: { ...info, version: '' } };
}

async function read(file: string): Promise<OpenApiDocument> {
  return JSON.parse(await readFile(file, 'utf8'));
}
