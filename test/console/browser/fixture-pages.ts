/** A browser and a server of fixtures for the scenes of one file. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchBrowser } from '../../support/browser/launch-browser.ts';
import { FIXTURE_NOW } from '../web/fixture-data.ts';
import { startFixtureServer, type FixtureServer } from '../web/fixture-server.ts';
import { openPage, type OpenedPage, type OpenOptions } from './opened-page.ts';

/** The runs of the fixtures, as addresses. */
export const AIRLINE = '/runs/airline-55a09702-9302-46b7-bf16-4c9d6e22a107';
export const CLERK = '/runs/clerk-df080a90-7b6e-487e-8734-08ea4c56a40a';
export const TREE = '/runs/top-31';

/** The pages that the scenes of a file open. */
export interface FixturePages {
  readonly server: () => FixtureServer;
  /** Opens `path`; the page is closed after the test. */
  readonly open: (path: string, options?: OpenOptions) => Promise<OpenedPage>;
}

/** Starts browser and server before the tests of a file, and closes them after it. */
export function fixturePages(): FixturePages {
  let server: FixtureServer | null = null;
  let browser: Browser | null = null;
  let opened: OpenedPage | null = null;
  beforeAll(async () => {
    server = await startFixtureServer();
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await opened?.context.close();
    opened = null;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const started = (): FixtureServer => {
    if (server === null) throw new Error('Expected the server of fixtures, which has not started.');
    return server;
  };
  return {
    server: started,
    open: async (path, options = {}) => {
      if (browser === null) throw new Error('Expected a browser, which has not started.');
      opened = await openPage(browser, started().url + path, { now: FIXTURE_NOW, ...options });
      return opened;
    },
  };
}

/** Fails if `page` is wider than its window. */
export async function expectFits(page: Page): Promise<void> {
  const [wide, inner] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  );
  expect(wide).toBeLessThanOrEqual(inner);
}
