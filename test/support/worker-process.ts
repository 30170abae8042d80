/**
 * The frame of a worker that is a process of its own: what it is told, when it ends. The fixtures
 * `serve-*.ts` say what each of them serves.
 */
import { NativeConnection } from '@temporalio/worker';
import { createWorker, type WorkerParts } from '../../src/worker/serve/create-worker.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { bundleFolder } from './bundles.ts';

/** Where a worker process serves. */
export interface ServedPlace {
  readonly address: string;
  readonly namespace: string;
  readonly archiveDir: string;
}

/**
 * What it serves there; without an archive it is that of the place, without chunks nobody hears them,
 * without a bundle folder it is that of all tests.
 */
export type ServedParts = Pick<WorkerParts, 'agents'> &
  Partial<Omit<WorkerParts, 'connection' | 'namespace'>>;

/** What this process was told: its one argument, as JSON. */
export function toldWork<Work>(): Work {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) throw new Error('Expected what to serve, as JSON.');
  return JSON.parse(argument) as Work;
}

/** Ends this process as `kill -9` does: nothing of it runs any more. */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Lets this process end with its parent, whose end closes the pipe. */
export function endWithParent(): void {
  process.stdin.resume();
  process.stdin.once('end', killSelf);
}

/** Prints the line by which the parent knows that this process is there. */
export function tellParent(): void {
  console.log(JSON.stringify({ pid: process.pid }));
}

/** A worker that is about to serve; `run` settles when it is stopped. */
export async function openWorker(
  { address, namespace, archiveDir }: ServedPlace,
  parts: ServedParts,
): Promise<{ run(): Promise<void> }> {
  installRuntime({ logLevel: 'ERROR' });
  return createWorker({
    connection: await NativeConnection.connect({ address }),
    namespace,
    archive: createDirectoryArchive(archiveDir),
    chunks: { publish: () => undefined },
    bundleDir: await bundleFolder(parts.workflowsPath),
    heartbeatMs: 3_000,
    shutdownGraceMs: 500,
    ...parts,
  });
}

/** Serves `parts` until this process is killed or its parent ends; prints a line when it serves. */
export async function serveAgents(place: ServedPlace, parts: ServedParts): Promise<void> {
  const worker = await openWorker(place, parts);
  endWithParent();
  const serving = worker.run();
  tellParent();
  await serving;
}
