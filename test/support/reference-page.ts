import type { Locator, Page } from 'playwright-core';
import type { Api } from './api.ts';

/** What a reader does on the reference page; every step is done with what the page shows. */
export interface Executed {
  /** As the page shows them. */
  status: number;
  text: string;
  /** As they were sent and received. */
  body: { [field: string]: unknown };
  url: string;
  headers: Record<string, string>;
}

/** Where the link of an operation leads. */
export const anchorOf = (tag: string, id: string): string =>
  `tag/${tag.toLowerCase().replaceAll(' ', '-')}/${id}`;

/** The section of an operation; it is in the page once it has been gone to. */
export const operation = (page: Page, tag: string, id: string): Locator =>
  page.locator(`[id="api-1/${anchorOf(tag, id)}"]`);

/** Follows the link of an operation, and waits for its samples and responses. */
export async function goTo(page: Page, tag: string, id: string): Promise<Locator> {
  await page.goto(`${new URL(page.url()).origin}/docs#${anchorOf(tag, id)}`);
  const one = operation(page, tag, id);
  await one.getByRole('button', { name: /Test Request/ }).waitFor();
  return one;
}

/** The part of the page that takes the client's credentials. */
export function authorization(page: Page) {
  const main = page.getByRole('main');
  const row = (name: string) => main.locator('tr', { has: page.getByText(name, { exact: true }) });
  return {
    id: main.getByRole('combobox', { name: 'Client ID' }),
    secret: row('Client Secret').locator('input'),
    authorize: main.getByRole('button', { name: 'Authorize', exact: true }),
    token: row('Access Token').locator('input'),
    clear: main.getByRole('button', { name: 'Clear', exact: true }),
  };
}

/** Fills in the credentials and asks for a token. */
export async function authorize(page: Page, { client_id, client_secret }: Api['credentials']): Promise<void> {
  const form = authorization(page);
  await form.id.fill(client_id);
  await form.secret.fill(client_secret);
  await form.authorize.click();
}

/** Opens what tries the operation out. */
async function openRequest(page: Page, one: Locator): Promise<Locator> {
  await one.getByRole('button', { name: /Test Request/ }).click();
  const dialog = page.getByRole('dialog', { name: 'API Client' });
  await send(dialog).waitFor();
  return dialog;
}

export const send = (dialog: Locator): Locator => dialog.getByRole('button', { name: /^Send / }).first();

/** Opens, fills in, sends, and closes again unless told to leave it open. */
export async function execute(
  page: Page,
  one: Locator,
  parameters: Record<string, number> = {},
  { body, look }: { body?: string; look?: (dialog: Locator) => Promise<void> } = {},
): Promise<Executed> {
  const dialog = await openRequest(page, one);
  for (const [name, value] of Object.entries(parameters)) {
    await parameter(dialog, name)
      .locator('[aria-label$="Value"][contenteditable="true"]')
      .fill(String(value));
  }
  if (body !== undefined) await dialog.locator('.cm-content[data-language="json"]').first().fill(body);
  const [response] = await Promise.all([
    page.waitForResponse((reply) => reply.url().includes('/api/v1/')),
    send(dialog).click(),
  ]);
  const shown = dialog.getByRole('region', { name: 'Response', exact: true });
  const text = shown.getByTestId('response-body-raw');
  await text.waitFor();
  const executed = {
    status: Number(/Status:\s*(\d+)/.exec(await shown.innerText())?.[1]),
    text: await text.locator('.cm-content').innerText(),
    body: (await response.json()) as Executed['body'],
    url: response.url(),
    headers: response.request().headers(),
  };
  await look?.(dialog);
  await page.getByRole('button', { name: 'Close Client' }).click();
  await dialog.waitFor({ state: 'hidden' });
  return executed;
}

/** The row of a parameter, or of a header. */
export const parameter = (dialog: Locator, name: string): Locator =>
  dialog.locator('tr', { has: dialog.page().getByLabel(`Include ${name} in request`) });

/** Searches by words until the operation is the first that is found. */
export async function search(page: Page, words: string, id: string): Promise<Locator> {
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await dialog.getByRole('combobox').waitFor();
  await page.keyboard.type(words);
  const first = dialog.getByRole('option').first();
  await first.and(page.locator(`[id$="/${id}"]`)).waitFor();
  return first;
}
