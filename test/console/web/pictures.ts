/** Takes pictures of the pages with fixed data at a fixed moment, for people and for the guides. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../support/browser/launch-browser.ts';
import { FIXTURE_NOW } from './fixture-data.ts';
import { startFixtureServer } from './fixture-server.ts';

/** The runs of the fixtures, as addresses. */
export const AIRLINE_PATH: string = `/runs/${encodeURIComponent('airline-55a09702-9302-46b7-bf16-4c9d6e22a107')}`;
export const CLERK_PATH: string = `/runs/${encodeURIComponent('clerk-df080a90-7b6e-487e-8734-08ea4c56a40a')}`;

/** A picture of a page. */
export interface Picture {
  /** Of its file, without `.png`. */
  readonly name: string;
  readonly path: string;
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** Done before it is taken: opens what it shows. */
  readonly play?: (page: Page) => Promise<void>;
}

/** Takes `pictures` into `folder`. Returns what a person should look at: errors, pages too wide. */
export async function takePictures(
  folder: string,
  pictures: readonly Picture[],
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const server = await startFixtureServer();
  const browser = await launchBrowser();
  const notes: string[] = [];
  try {
    for (const picture of pictures)
      notes.push(...(await take(browser, server.url, folder, picture)));
  } finally {
    await browser.close();
    await server.close();
  }
  return notes;
}

async function take(
  browser: Browser,
  origin: string,
  folder: string,
  { name, path, scheme, width, height, play }: Picture,
): Promise<readonly string[]> {
  const notes: string[] = [];
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.on('console', (message) => notes.push(`${name}: ${message.type()} ${message.text()}`));
  page.on('pageerror', (error) => notes.push(`${name}: ${error.message}`));
  await page.clock.setFixedTime(FIXTURE_NOW);
  await page.goto(origin + path);
  await page.locator('h1').first().waitFor();
  await play?.(page);
  await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => 0)');
  await page.waitForTimeout(400);
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  if (wide > 0) notes.push(`${name}: ${wide} px too wide`);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
  return notes;
}
