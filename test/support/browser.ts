import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const executablePath = process.env['CHROMIUM'] ?? onPath('chromium', 'chromium-browser', 'google-chrome');

/** Why tests in a browser cannot run here, for tap's `skip`; CI has to install it, and fails without. */
export const noBrowser =
  executablePath || process.env['CI'] ? false : 'there is no Chromium here: apt install chromium';

export interface Browser {
  /** Opens a page in a profile of its own; both are gone when the test ends. */
  open(t: Test, url: string, options?: BrowserContextOptions): Promise<WatchedPage>;
}

export interface WatchedPage {
  page: Page;
  /** Requests to other hosts, breaches of the page's policy, errors in its console; as they happen. */
  faults: string[];
}

/** Runs a headless Chromium that can reach nothing but 127.0.0.1; it is gone when the test ends. */
export async function startBrowser(t: Test): Promise<Browser> {
  if (!executablePath) throw new Error('there is no Chromium here: apt install chromium');
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
  t.teardown(() => browser.close());

  const open: Browser['open'] = async (t, url, options) => {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    context.setDefaultTimeout(30_000);
    const { origin } = new URL(url);
    const faults: string[] = [];
    const note = (what: string, address: string) => {
      if (new URL(address).origin !== origin) faults.push(`${what} ${address}`);
    };
    context.on('request', (request) => note('request', request.url()));
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
      console.error('policy', event.violatedDirective, event.blockedURI))`);
    const page = await context.newPage();
    page.on('websocket', (socket) => note('socket', socket.url()));
    page.on('pageerror', (error) => faults.push(`error ${error.message}`));
    page.on('console', (message) => {
      // Chromium logs this for every status from 400 on; for calls of the API that is what a test expects.
      const answered = message.text().startsWith('Failed to load resource: the server responded');
      if (answered && message.location().url.startsWith(`${origin}/api/`)) return;
      if (['error', 'warning'].includes(message.type())) faults.push(`console ${message.text()}`);
    });
    await page.goto(url);
    return { page, faults };
  };
  return { open };
}

function onPath(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
