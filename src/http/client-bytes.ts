const mostClients = 10_000;

/** How many bytes of something each client has in progress; whoever counts them changes the number. */
export class ClientBytes {
  // Entries stay: a Map that gains and loses one with each request keeps alive what has passed through it.
  readonly #clients = new Map<string, { bytes: number }>();

  of(clientId: string): { bytes: number } {
    const known = this.#clients.get(clientId);
    if (known) return known;
    if (this.#clients.size >= mostClients) this.#forgetIdle();
    const own = { bytes: 0 };
    this.#clients.set(clientId, own);
    return own;
  }

  #forgetIdle(): void {
    for (const [id, { bytes }] of this.#clients) if (bytes === 0) this.#clients.delete(id);
  }
}
