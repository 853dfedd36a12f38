import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

/** A TCP proxy that can fail in the ways networks fail. */
export interface TcpProxy {
  /** On loopback. */
  port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections but never responds, like a host that has left the network. */
  silence(): void;
  /** Returns to normal, and breaks every connection. */
  restore(): Promise<void>;
  /** Accepts connections but holds back all data, in both directions, until `resume`. */
  stall(): void;
  /** Delivers what was held back, except from clients that have since reset their connection, as a kernel would. */
  resume(): void;
  /** Discards all data on existing connections without closing them; new ones work. */
  goDark(): void;
  /** Resets every connection; new ones work. */
  reset(): void;
  /** Delays everything by this much from now on, in order. */
  delay(ms: number): void;
  /** Routes new connections there; existing ones go dark. */
  leadTo(target: NetConnectOpts): void;
}

/** Listens on a loopback port of its own and forwards everything to the target; stopped when `t` ends. */
export async function startProxy(t: Pick<Test, 'teardown'>, target: NetConnectOpts): Promise<TcpProxy> {
  const links = new Set<Link>();
  let server = target;
  let mode: 'open' | 'silent' | 'stalled' = 'open';
  let delayMs = 0;
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = mode === 'silent' ? undefined : connect({ ...server, allowHalfOpen: true });
    const link = new Link(client, upstream, () => links.delete(link));
    link.delayMs = delayMs;
    if (mode === 'stalled') link.stall();
    links.add(link);
  });
  const forAll = (act: (link: Link) => void) => [...links].forEach(act);
  const breakAll = () => forAll((link) => link.break());
  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1');
    await once(listener, 'listening');
  };
  await listen(0);
  const { port } = listener.address() as AddressInfo;
  t.teardown(() => {
    breakAll();
    listener.close();
  });

  return {
    port,
    async cut() {
      const closed = once(listener, 'close');
      listener.close();
      breakAll();
      await closed;
    },
    silence() {
      mode = 'silent';
      breakAll();
    },
    async restore() {
      mode = 'open';
      breakAll();
      if (!listener.listening) await listen(port);
    },
    stall() {
      mode = 'stalled';
      forAll((link) => link.stall());
    },
    resume() {
      mode = 'open';
      forAll((link) => link.resume());
    },
    goDark: () => forAll((link) => link.goDark()),
    reset: () => forAll((link) => link.reset()),
    delay(ms) {
      delayMs = ms;
      forAll((link) => {
        link.delayMs = ms;
      });
    },
    leadTo(target) {
      server = target;
      mode = 'open';
      forAll((link) => link.goDark());
    },
  };
}

/** One connection of a client and, unless the proxy is silent, the one to the server that it is passed on to. */
class Link {
  delayMs = 0;
  readonly #client: Socket;
  readonly #upstream: Socket | undefined;
  readonly #gone: () => void;
  #held: (() => void)[] | undefined;
  #dark = false;
  #late = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(client: Socket, upstream: Socket | undefined, gone: () => void) {
    this.#client = client;
    this.#upstream = upstream;
    this.#gone = gone;
    this.#pass(client, upstream);
    if (upstream) this.#pass(upstream, client);
  }

  stall(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const act of held) act();
  }

  goDark(): void {
    this.#dark = true;
    this.#held = undefined;
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#upstream?.destroy();
    this.#gone();
  }

  break(): void {
    this.#client.destroy();
    this.#upstream?.destroy();
    this.#gone();
  }

  #pass(from: Socket, to: Socket | undefined): void {
    from.on('data', (chunk) => this.#soon(() => to?.write(chunk)));
    from.on('end', () => this.#soon(() => (to ?? from).end()));
    from.on('error', () => {
      // A reset discards the data that it overtakes.
      if (this.#held) this.#held = [];
      this.#soon(() => this.break());
    });
    from.on('close', () => {
      if (from.destroyed && to?.destroyed !== false) this.#gone();
    });
  }

  #soon(act: () => void): void {
    if (this.delayMs === 0 && this.#late === 0) {
      this.#now(act);
      return;
    }
    const due = performance.now() + this.delayMs;
    this.#late += 1;
    this.#turn = this.#turn.then(async () => {
      await pause(Math.max(0, due - performance.now()));
      this.#late -= 1;
      this.#now(act);
    });
  }

  #now(act: () => void): void {
    if (this.#dark) return;
    if (this.#held) this.#held.push(act);
    else act();
  }
}
