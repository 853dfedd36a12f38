import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a process of the service is ready.
 * @param log the file that takes what it prints.
 * @returns its address, such as http://127.0.0.1:3000
 * @throws what it printed, when it ends before
 */
export async function addressOf(child: ChildProcess, log: string): Promise<string> {
  for (;;) {
    const text = readFileSync(log, 'utf8');
    const origin = /is ready at (\S+)/.exec(text)?.[1];
    if (origin !== undefined) return origin;
    if (child.exitCode !== null) throw new Error(`the service did not start: ${text.trim()}`);
    await sleep(20);
  }
}

/** An access token for the client, as the service at that address gives it. @throws when it gives none */
export async function fetchToken(
  origin: string,
  { client_id, client_secret }: { client_id: string; client_secret: string },
): Promise<string> {
  const response = await fetch(`${origin}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}
