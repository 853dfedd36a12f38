import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Elements that make the page scroll sideways. */
export const tooWide = (page: Page) =>
  page.evaluate(`(() => {
    const screen = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth <= screen) return [];
    const name = (node) => node.tagName + '.' + node.className;
    return ['the page', ...[...document.querySelectorAll('body *')]
      .filter((node) => node.getBoundingClientRect().right > screen).map(name)];
  })()`);

/** Controls smaller than 24 pixels or off the screen (WCAG 2.5.8). */
export const tooSmall = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('button, input, select, textarea')]
    .filter((node) => node.checkVisibility({ opacityProperty: true }) && !node.closest('.copy-to-clipboard'))
    .map((node) => ({ node, box: node.getBoundingClientRect() }))
    .filter(({ box: { width, height, left, right } }) =>
      width < 24 || height < 24 || left < 0 || right > document.documentElement.clientWidth)
    .map(({ node, box }) => node.outerHTML.slice(0, 80) + ' ' + JSON.stringify(box))`);

/** For people, who name a directory in DOCS_SCREENSHOTS. */
export async function shot(page: Page, name: string): Promise<void> {
  const directory = process.env['DOCS_SCREENSHOTS'];
  if (!directory) return;
  await mkdir(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}
