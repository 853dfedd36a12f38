import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import { selfSigned } from './certificate.ts';
import { eventually } from './eventually.ts';
import { freePort } from './process.ts';

/** The proxies that docs/operations.md configures. */
export type ProxyName = 'haproxy' | 'nginx';

/** Why the tests behind this proxy are skipped; in CI they never are. */
export function notInstalled(name: ProxyName): string | false {
  return spawnSync(name, ['-v']).error && !process.env['CI'] ? `${name} is not installed here` : false;
}

export interface RunningProxy {
  /** Sends a request over TLS from a loopback address, on a connection kept open for that address. */
  send(from: string, path: string, options?: SendOptions): Promise<ProxyResponse>;
  /** A raw connection from such an address. */
  open(from: string): Promise<TLSSocket>;
}

export interface SendOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ProxyResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const hostname = 'menus.example.com';

/** Runs a proxy on a configuration with its ports, addresses and files replaced; stopped when the test ends. */
export async function startProxy(
  t: Test,
  name: ProxyName,
  configuration: string,
  servers: readonly string[],
): Promise<RunningProxy> {
  const directory = mkdtempSync(join(tmpdir(), `${name}-`));
  t.teardown(() => rmSync(directory, { recursive: true }));
  // Its workers are not root.
  chmodSync(directory, 0o755);
  const { key, cert } = selfSigned(hostname);
  const port = await freePort();
  const file = join(directory, `${name}.conf`);
  const certificate = join(directory, 'menus.pem');
  writeFileSync(certificate, cert + key);
  const adapted = servers.reduce(
    (text, server, index) => text.replace(`10.0.0.1${index + 1}:3000`, new URL(server).host),
    configuration
      .replaceAll('/etc/ssl/private/menus.pem', certificate)
      .replace(/(bind |listen )(?::)?443/, `$1127.0.0.1:${port}`),
  );
  writeFileSync(file, name === 'nginx' ? ownPlaces(adapted, directory) : `${adapted}\n`);
  const command =
    name === 'nginx'
      ? ['-p', directory, '-c', file, '-e', 'stderr', '-g', 'daemon off;']
      : ['-db', '-f', file];
  const program = spawn(name, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  program.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  const agents = new Map<string, Agent>();
  t.teardown(async () => {
    for (const agent of agents.values()) agent.destroy();
    if (program.exitCode !== null || program.signalCode !== null) return;
    program.kill('SIGTERM');
    await once(program, 'exit');
  });
  const target = { host: '127.0.0.1', port, ca: cert, servername: hostname };

  const send: RunningProxy['send'] = async (from, path, { method = 'GET', headers = {}, body } = {}) => {
    const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 1 });
    agents.set(from, agent);
    const sent = request({
      ...target,
      agent,
      localAddress: from,
      method,
      path,
      headers: { host: hostname, ...headers },
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
  };
  const open: RunningProxy['open'] = async (from) => {
    const socket = connect({ ...target, localAddress: from } as ConnectionOptions);
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };

  await eventually(`${name} leads to the service`, async () => {
    if (program.exitCode !== null) throw new Error(printed);
    return send('127.0.0.1', '/openapi.json').then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  return { send, open };
}

// By default nginx writes to the directories of the system.
function ownPlaces(configuration: string, directory: string): string {
  mkdirSync(join(directory, 'tmp'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path tmp/${one};`,
  );
  return `pid nginx.pid;\n${configuration.replace('http {', `http {\naccess_log off;\n${paths.join('\n')}`)}\n`;
}
