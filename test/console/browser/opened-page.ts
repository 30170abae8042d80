/**
 * A page in a real Chromium that fails its test on an error in the console, a report of the content
 * security policy, a request to another host, or a serious finding of axe, light or dark.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

const require = createRequire(import.meta.url);

/** How a page is opened. */
export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** The moment at which the page's clock stands; default: it runs. */
  readonly now?: number;
  /** What the browser does not have. */
  readonly without?: readonly ('localStorage' | 'locks' | 'WebSocket')[];
  /** Requests that are expected to fail, by a part of their address. */
  readonly mayFail?: string;
}

/** A page, and what it did that it should not. */
export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails on everything that was seen, and on what axe finds now, light and dark. */
  readonly check: () => Promise<void>;
}

/** A part of what axe answers. */
interface AxeAnswer {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Opens `url`. */
export async function openPage(
  browser: Browser,
  url: string,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const { width = 1360, height = 860, scheme = 'light', now, mayFail, without = [] } = options;
  const seen: string[] = [];
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  await context.addInitScript((names: readonly string[]) => {
    const refuse = (target: object, name: string): void => {
      const get = (): never => {
        throw new DOMException('It is switched off.', 'SecurityError');
      };
      Object.defineProperty(target, name, { get });
    };
    for (const name of names) {
      if (name === 'localStorage') refuse(globalThis, name);
      else if (name === 'locks')
        Reflect.deleteProperty(
          Object.getPrototypeOf(Reflect.get(globalThis, 'navigator')) as object,
          name,
        );
      else Reflect.deleteProperty(globalThis, name);
    }
  }, without);
  const page = await context.newPage();
  if (now !== undefined) await page.clock.setFixedTime(now);
  page.on('pageerror', (error) => seen.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const place = message.location().url;
    if (mayFail !== undefined && place.includes(mayFail)) return;
    seen.push(`${message.type()}: ${message.text()} at ${place}`);
  });
  page.on('request', (request) => {
    const target = new URL(request.url());
    const isOwn = target.origin === new URL(url).origin;
    if (!isOwn && !/^(blob|data):$/.test(target.protocol)) seen.push(`request to ${target.href}`);
  });
  await page.goto(url);
  return {
    page,
    context,
    check: async () => {
      const other = scheme === 'light' ? 'dark' : 'light';
      expect(await findings(page), scheme).toEqual([]);
      await page.emulateMedia({ colorScheme: other });
      expect(await findings(page, COLOR_RULES), other).toEqual([]);
      await page.emulateMedia({ colorScheme: scheme });
      expect(seen).toEqual([]);
    },
  };
}

/** Opens the inbox by its keys: again, if more than a second has passed between the two. */
export async function goToInbox(page: Page): Promise<void> {
  const press = async (): Promise<string> => {
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    return page.url();
  };
  await expect.poll(press, { interval: 1_000 }).toContain('/inbox');
}

/** Waits until what is on the page has been there long enough for keys to act on it. */
export async function shownForKeys(page: Page): Promise<void> {
  await page.evaluate(
    `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 350))))`,
  );
}

/** What may differ between the schemes. */
const COLOR_RULES = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Serious findings of axe. It runs beside the page's own code, which its policy would not let in. */
async function findings(page: Page, options: object = {}): Promise<readonly string[]> {
  const client = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result.value;
  };
  if ((await evaluate('typeof axe')) === 'undefined') {
    const source = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
    await evaluate(`${source};0`);
  }
  const all = { resultTypes: ['violations'], preload: false, ...options };
  const answer = (await evaluate(`axe.run(document, ${JSON.stringify(all)})`)) as AxeAnswer;
  await client.detach();
  return answer.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
}
