/** The processes of the benchmark `fleet`: started, asked and ended by their handles. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** A process that answers questions, one at a time. */
export interface Asked {
  /** Its first message. */
  readonly first: unknown;
  readonly ask: <Answer>(question: string) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

/** Starts `file` of this folder, and waits for its first message. */
export async function startAsked(file: string, argument: unknown = null): Promise<Asked> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, [JSON.stringify(argument)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return {
    first: await nextOf(child, file),
    ask: async <Answer>(question: string): Promise<Answer> => {
      child.send(question);
      return (await nextOf(child, file)) as Answer;
    },
    stop: () => stopped(child),
  };
}

async function nextOf(child: ChildProcess, file: string): Promise<unknown> {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error(`Expected an answer of ${file}, got its end.`);
  });
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended]);
    return answer as unknown;
  } finally {
    giveUp.abort();
    ended.catch(() => undefined);
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** Keeps all cores busy: one process for each, until the returned function is called. */
export function starveCores(): () => Promise<void> {
  const children = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return async () => {
    await Promise.all(children.map(stopped));
  };
}

/** Ticks of the processor's clock in a second, as Linux tells them to programs. */
const TICKS_PER_S = 100;

/** The processor time of process `pid`, in ms; NaN where there is no `/proc`. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in parentheses, may hold spaces. User and system time are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11] ?? NaN) + Number(fields[12] ?? NaN)) * 1_000) / TICKS_PER_S;
}
