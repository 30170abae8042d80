/**
 * What all real scenes stand on: a Temporal server, a worker process, a console and a browser, each
 * opened once. Between the console and the server is a line that a scene can cut.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import type { Browser } from 'playwright-core';
import { connect, type ConnectedEverloop } from '../../../../src/client/connect.ts';
import type { RunHandle } from '../../../../src/client/run-handle.ts';
import { openConsole, type OpenConsole } from '../../../../src/console/serve/open-console.ts';
import { launchBrowser } from '../../../support/browser/launch-browser.ts';
import { cliProgram } from '../../../support/builds.ts';
import { shareBundle } from '../../../support/bundles.ts';
import { startFixture, type FixtureProcess } from '../../../support/child-process.ts';
import type { ConsoleWorker } from '../../../support/fixtures/serve-console.ts';
import { eventually } from '../../../support/eventually.ts';
import { withHiddenValue } from '../../../support/hidden-values.ts';
import { openPage, type OpenedPage, type OpenOptions } from '../opened-page.ts';
import { openCutLine, type CutLine } from './cut-line.ts';

/** Time for what a loaded machine does, not a promise. */
const SOON = { timeout: 45_000 };

/** A worker process, and its name as the pages show it. */
export interface SceneWorker {
  readonly name: string;
  readonly kill: () => Promise<void>;
}

/** The stage of all scenes. */
export interface SceneStage {
  readonly browser: Browser;
  /** Between the console and the Temporal server. */
  readonly line: CutLine;
  readonly everloop: ConnectedEverloop;
  /** Starts a run. */
  readonly start: (agent: string, task: string) => Promise<RunHandle>;
  /** Has the service delete a run, as it does after its retention. */
  readonly forget: (run: RunHandle) => Promise<void>;
  /** Lets agents and tools go on that wait for this gate. */
  readonly openGate: (gate: string) => Promise<void>;
  /** Starts a worker process; the stage kills it at its end. */
  readonly serve: (work?: Partial<ConsoleWorker>) => Promise<SceneWorker>;
  /** Opens a page of the console in a context of its own, which `closePages` closes. */
  readonly open: (path: string, options?: OpenOptions) => Promise<OpenedPage>;
  /** The address of a page, with the key. */
  readonly urlOf: (path: string) => string;
  readonly closePages: () => Promise<void>;
  /** Runs a command of `everloop` in a process. */
  readonly cli: (...args: readonly string[]) => Promise<string>;
  readonly stopConsole: () => Promise<void>;
  /** Starts the console again, at the same address. */
  readonly startConsole: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The path of the page of `run`. */
export function pageOf({ id }: Pick<RunHandle, 'id'>, search = ''): string {
  return `/runs/${encodeURIComponent(id)}${search}`;
}

/** Opens the stage on a server that runs. */
export async function openSceneStage(server: {
  readonly address: string;
  readonly namespace: string;
}): Promise<SceneStage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'everloop-scenes-'));
  await shareBundle(dataDir);
  const taskQueue = `scenes-${randomUUID()}`;
  const { namespace } = server;
  const line = await openCutLine(server.address);
  const place = { namespace, taskQueue, dataDir };
  const [connection, everloop, behindLine, browser] = await Promise.all([
    Connection.connect({ address: server.address }),
    connect({ ...place, address: server.address, env: {} }),
    connect({ ...place, address: line.address, env: {} }),
    launchBrowser(),
  ]);
  const serveConsole = (port: number): Promise<OpenConsole> =>
    openConsole({
      everloop: behindLine,
      dataDir,
      env: {},
      port,
      answerMs: 4_000,
      times: { silentMs: 1_000, everyMs: 500 },
    });
  let opened = await serveConsole(0);
  const workers: FixtureProcess[] = [];
  const pages: OpenedPage[] = [];
  const urlOf = (path: string): string => {
    const { hash, origin } = new URL(opened.address);
    return `${origin}${path}${hash}`;
  };
  return {
    browser,
    line,
    everloop,
    urlOf,
    start: (agent, task) => everloop.start(agent, { task, context: withHiddenValue(undefined) }),
    forget: async ({ id }) => {
      await connection.workflowService.deleteWorkflowExecution({
        namespace,
        workflowExecution: { workflowId: id },
      });
      const isGone = (): Promise<boolean> =>
        everloop
          .attach(id)
          .summary()
          .then(
            () => false,
            () => true,
          );
      await eventually('the run to be deleted', isGone);
    },
    openGate: (gate) => writeFile(join(dataDir, gate), ''),
    serve: async (work = {}) => {
      const told = { ...place, address: server.address, gateDir: dataDir, ...work };
      const worker = await startFixture('serve-console', [JSON.stringify(told)]);
      workers.push(worker);
      return { name: String(worker.child.pid), kill: () => worker.kill('SIGKILL') };
    },
    open: async (path, options) => {
      const page = await openPage(browser, urlOf(path), options);
      page.page.setDefaultTimeout(SOON.timeout);
      pages.push(page);
      return page;
    },
    closePages: async () => {
      await Promise.all(pages.splice(0).map(({ context }) => context.close()));
    },
    cli: async (...args) => {
      const [file, ...rest] = [process.execPath, ...cliProgram(), ...args];
      const env = {
        PATH: process.env['PATH'],
        TEMPORAL_ADDRESS: server.address,
        TEMPORAL_NAMESPACE: namespace,
        EVERLOOP_TASK_QUEUE: taskQueue,
        EVERLOOP_DATA_DIR: dataDir,
      };
      return (await promisify(execFile)(file, rest, { env })).stdout;
    },
    stopConsole: () => opened.close(),
    startConsole: async () => {
      opened = await serveConsole(opened.port);
    },
    close: async () => {
      await browser.close();
      await opened.close();
      await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
      await Promise.all([everloop.close(), behindLine.close(), connection.close()]);
      await line.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
