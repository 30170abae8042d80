/** What the benchmark `console` stands on: server, worker process, console process, Chromium. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import { launchBrowser } from '../../test/support/browser/launch-browser.ts';
import { withStage } from './bench-stage.ts';
import type { AskedOfService, ConsoleNote, ConsolePlace } from './console-orders.ts';

/** The stage. */
export interface ConsoleStage {
  readonly everloop: ConnectedEverloop;
  readonly browser: Browser;
  /** The address of a page, with the key. */
  readonly urlOf: (path: string) => string;
  /** Opens a page in a context of its own, whose cache is empty; `script` runs before its own. */
  readonly open: (path: string, script?: string) => Promise<Page>;
  /** What the console has asked the service since it was started. */
  readonly asked: () => Promise<AskedOfService>;
}

/** Does `work` on a stage, which it closes then. */
export async function withConsole<Result>(
  work: (stage: ConsoleStage) => Promise<Result>,
): Promise<Result> {
  return withStage(async ({ address, folder }) => {
    const place = { address, namespace: 'default', taskQueue: 'console', dataDir: folder };
    const children: ChildProcess[] = [];
    const everloop = await connect({ ...place, env: {} });
    const browser = await launchBrowser();
    try {
      const worker = started('console-worker.ts', place, children);
      await once(worker, 'message');
      const served = started('console-process.ts', place, children);
      const { hash, origin } = new URL(openedOf(await noteOf(served)));
      const urlOf = (path: string): string => `${origin}${path}${hash}`;
      return await work({
        everloop,
        browser,
        urlOf,
        open: (path, script) => openFresh(browser, urlOf(path), script),
        asked: async () => {
          served.send('count');
          return askedOf(await noteOf(served));
        },
      });
    } finally {
      await browser.close();
      await everloop.close();
      await Promise.all(children.map(stopped));
    }
  });
}

/** Opens `url` in a context of its own, whose cache is empty. */
export async function openFresh(browser: Browser, url: string, script = ''): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  await context.addInitScript(script);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

function started(file: string, place: ConsolePlace, children: ChildProcess[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, [JSON.stringify(place)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  children.push(child);
  return child;
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function noteOf(child: ChildProcess): Promise<ConsoleNote> {
  const [note] = (await once(child, 'message')) as [ConsoleNote];
  return note;
}

function openedOf(note: ConsoleNote): string {
  if (!('opened' in note)) throw new Error('Expected the address of the console.');
  return note.opened;
}

function askedOf(note: ConsoleNote): AskedOfService {
  if (!('asked' in note)) throw new Error('Expected the counts of the console.');
  return note.asked;
}
