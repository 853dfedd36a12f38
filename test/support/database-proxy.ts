import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';
import type { Test } from 'tap';

/** A way to the database that a test can take away and give back. */
export interface DatabaseProxy {
  connection: pg.PoolConfig;
  /** Breaks every connection and accepts no other: connection refused. */
  cut(): Promise<void>;
  /** Accepts connections and says nothing, as a host does that is gone from the network. */
  silence(): void;
  restore(): Promise<void>;
}

/** Listens on a loopback port of its own and passes everything on to the database; gone when the test ends. */
export async function startDatabaseProxy(t: Test, target: pg.PoolConfig): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    keep(client);
    if (silent) return;
    const upstream = keep(connect(`${target.host}/.s.PGSQL.${target.port}`));
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    breakAll();
    server.close();
  });

  return {
    connection: { ...target, host: '127.0.0.1', port, ssl: false },
    async cut() {
      server.close();
      breakAll();
      if (sockets.size > 0) await once(server, 'close');
    },
    silence() {
      silent = true;
      breakAll();
    },
    async restore() {
      silent = false;
      breakAll();
      if (!server.listening) await listen(port);
    },
  };
}
