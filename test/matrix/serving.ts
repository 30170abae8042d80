/** A worker process of a job, started again whenever it was killed, and what it notes. */
import { defined } from '../../src/core/base/defined.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import type { MatrixWorker } from '../support/fixtures/serve-matrix.ts';
import type { TimedNote } from './moments.ts';

/** A worker that is there until `stop`. */
export interface Serving {
  /** The moments at which nothing was killed yet. */
  readonly left: ReadonlySet<string>;
  /** Settles when it serves; rejects when it ended otherwise than by a kill. */
  readonly ended: Promise<never>;
  stop(): Promise<void>;
}

/** How a killed server comes back: its new process id. */
export type RestartServer = () => Promise<number>;

/** What {@link keepServing} needs beside what the process is told. */
export interface ServingParts {
  readonly onNote: (note: TimedNote) => void;
  /** Set when the server is killed, and not the worker. */
  readonly server?: { readonly pid: number; readonly restart: RestartServer };
}

/** Starts a worker, and another one each time that it was killed. */
export async function keepServing(
  work: Omit<MatrixWorker, 'serverPid'>,
  { onNote, server }: ServingParts,
): Promise<Serving> {
  const left = new Set(work.moments);
  let isStopping = false;
  let child: FixtureProcess | undefined;
  let serverPid = server?.pid;
  let fail: (error: unknown) => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  ended.catch(() => undefined);

  const onLine = (line: string): void => {
    const note = JSON.parse(line) as TimedNote;
    if (note.kind === 'kill') left.delete(note.key);
    onNote(note);
    if (note.kind === 'kill' && server !== undefined) void revive(server.restart).catch(fail);
  };
  const revive = async (restart: RestartServer): Promise<void> => {
    serverPid = await restart();
    child?.child.stdin?.write(`${serverPid}\n`);
  };
  const start = async (): Promise<void> => {
    const told: MatrixWorker = { ...work, moments: [...left], ...defined({ serverPid }) };
    const started = await startFixture('serve-matrix', [JSON.stringify(told)], onLine);
    child = started;
    if (isStopping) await started.kill('SIGKILL');
    void started.ended.then((how) => {
      if (isStopping) return;
      if (how === 'SIGKILL') start().catch(fail);
      else fail(new Error(`Expected the worker to be killed, got its end with ${how}.`));
    });
  };

  await start();
  return {
    left,
    ended,
    stop: async () => {
      isStopping = true;
      await child?.kill('SIGKILL');
    },
  };
}
