/** A run whose workflow is served by the test, and its calls by processes that end and are replaced. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { FixtureProcesses } from './child-process.ts';
import { fatalAgent, SECOND, thinkerAgent, type Fatal } from './fatal-agents.ts';
import type { FatalWorker } from './fixtures/serve-fatal.ts';
import type { ServeOptions, Stage } from './stage.ts';

/** What ends workers in a run. */
export type Told = Pick<FatalWorker, 'mark' | 'blockMs'> & Partial<Omit<Fatal, 'folder'>>;

/** A run that has begun. */
export interface FatalRun {
  readonly run: RunHandle;
  readonly everloop: Everloop;
  readonly fatal: Fatal;
  /** From now on a worker that ends is not replaced. */
  readonly stop: () => void;
}

/** Starts a run of a payer; each worker of its calls that ends is replaced. */
export async function startFatalRun(
  stage: Stage,
  processes: FixtureProcesses<FatalWorker>,
  told: Told,
  options: ServeOptions & { readonly taskQueue: string },
): Promise<FatalRun> {
  const folder = await mkdtemp(join(stage.folder, 'fatal-'));
  const fatal = { ...told, folder };
  const { taskQueue } = options;
  const workQueue = `${taskQueue}-work`;
  const { everloop, archiveDir } = await stage.serve([fatalAgent(fatal), thinkerAgent(fatal)], {
    modelQueue: workQueue,
    toolQueue: workQueue,
    roles: ['workflows'],
    models: [SECOND],
    ...options,
  });
  const { address, namespace } = stage;
  const work = { ...fatal, address, namespace, archiveDir, taskQueue, workQueue };
  let isStopped = false;
  const serve = async (): Promise<void> => {
    while (!isStopped) {
      const worker = await processes.start(work);
      await worker.ended;
    }
  };
  // A process that is killed while it starts has no first line.
  serve().catch(() => undefined);
  const run = await everloop.start('payer', { task: 'Pay' });
  return { run, everloop, fatal, stop: () => void (isStopped = true) };
}
