import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/*
 * The least client of PostgreSQL's protocol that can execute prepared statements. Whoever stands in for "the
 * database alone" must cost next to nothing on the same machine: messages are written once and sent again and
 * again, rows are counted and not read. What the server sees is what it sees from the service: the same statement
 * names, texts, formats and values, in the extended protocol, with the same settings of the session.
 *
 * Source: https://www.postgresql.org/docs/18/protocol-flow.html and protocol-message-formats.html
 */

/** A statement as the driver sent it; without a name it is parsed each time. */
export interface Statement {
  name?: string;
  text: string;
  /** Absent: the simple protocol, as for `begin`. */
  values?: unknown[];
}

export interface WireConnection {
  /** Parses the named ones, once each. */
  prepare(statements: Iterable<Statement>): Promise<void>;
  /** Sends messages of `execution` one after the other. @throws when the server reports an error or finds no row. */
  execute(messages: readonly Buffer[]): Promise<void>;
  close(): void;
}

/** The settings that the service gives its own sessions, see src/db/database.ts. */
export const sessionSettings = { statement_timeout: '10000', lock_timeout: '5000' };

/** Connects to a server that trusts its Unix socket. */
export async function openWire(server: {
  host: string;
  port: number;
  user: string;
  database: string;
}): Promise<WireConnection> {
  const socket = connect(`${server.host}/.s.PGSQL.${server.port}`);
  await once(socket, 'connect');
  const answers = readAnswers(socket);
  const { user, database } = server;
  const parameters = Object.entries({ user, database, ...sessionSettings }).flat();
  await answers.after(message('', int32(196_608), ...parameters.map(cString), Buffer.of(0)));
  const prepared = new Set<string>();

  return {
    async prepare(statements) {
      for (const { name, text, values } of statements) {
        if (name === undefined || values === undefined || prepared.has(name)) continue;
        prepared.add(name);
        await answers.after(Buffer.concat([parse(name, text), sync]));
      }
    },
    async execute(messages) {
      let rows = 0;
      for (const one of messages) rows += await answers.after(one);
      if (rows === 0) throw new Error('a statement found no row');
    },
    close: () => void socket.destroy(),
  };
}

/** The message that executes a statement with its values. */
export function execution({ name, text, values }: Statement): Buffer {
  if (values === undefined) return message('Q', cString(text));
  const parameters = values.map(asText).map((value) => {
    if (value === null) return int32(-1);
    const bytes = Buffer.from(value);
    return Buffer.concat([int32(bytes.length), bytes]);
  });
  const bind = message(
    'B',
    cString(''),
    cString(name ?? ''),
    int16(0),
    int16(parameters.length),
    ...parameters,
    int16(0),
  );
  const describe = message('D', Buffer.from('P'), cString(''));
  const execute = message('E', cString(''), int32(0));
  return Buffer.concat([...(name === undefined ? [parse('', text)] : []), bind, describe, execute, sync]);
}

/** The text form of a value, as the driver would send it; null for null. */
export function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

function element(value: unknown): string {
  const text = asText(value);
  if (text === null || Array.isArray(value)) return text ?? 'NULL';
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

function parse(name: string, text: string): Buffer {
  return message('P', cString(name), cString(text), int16(0));
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  return Buffer.concat([Buffer.from(type), int32(length), ...parts]);
}

const sync = message('S');

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const types = { row: 'D'.charCodeAt(0), error: 'E'.charCodeAt(0), ready: 'Z'.charCodeAt(0) };
const headerLength = 5;

interface Answers {
  /** Sends, and resolves with the number of rows once the server is ready again. */
  after(message: Buffer): Promise<number>;
}

/** Walks from message to message; only the headers are looked at, which a chunk may cut in two. */
function readAnswers(socket: Socket): Answers {
  let settle: { resolve: (rows: number) => void; reject: (error: Error) => void } | undefined;
  let header = Buffer.alloc(0);
  let skip = 0;
  let rows = 0;
  let fault: Error | undefined;

  const end = (error: Error) => settle?.reject(error);
  socket.on('error', end).on('close', () => end(new Error('the connection was closed')));
  socket.on('data', (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (skip > 0) {
        const step = Math.min(skip, chunk.length - at);
        skip -= step;
        at += step;
      } else {
        const missing = headerLength - header.length;
        const part = chunk.subarray(at, at + missing);
        at += part.length;
        header = header.length === 0 ? part : Buffer.concat([header, part]);
        if (header.length === headerLength) {
          skip = header.readInt32BE(1) - 4;
          if (header[0] === types.error) fault = new Error(words(chunk.subarray(at, at + skip)));
          if (header[0] === types.row) rows += 1;
          // Its one byte of content ends the answer; it is never waited for apart from the header.
          if (header[0] === types.ready) finish();
          header = Buffer.alloc(0);
        }
      }
    }
  });

  function finish(): void {
    const { resolve, reject } = settle ?? {};
    const [count, error] = [rows, fault];
    settle = undefined;
    rows = 0;
    fault = undefined;
    if (error) reject?.(error);
    else resolve?.(count);
  }

  return {
    after: (bytes) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(bytes);
      }),
  };
}

// Fields are a letter and a text each, ended by zero bytes; M is the message.
function words(fields: Buffer): string {
  const message = fields
    .toString()
    .split('\0')
    .find((field) => field.startsWith('M'));
  return `PostgreSQL: ${message?.slice(1) ?? 'unknown error'}`;
}
