/** The parent's side of `program-process.ts`. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command } from './program-process.ts';

const FILE = fileURLToPath(new URL('program-process.ts', import.meta.url));

/** Another process that runs programs. */
export interface OtherProcess {
  /** Its answer to a command. Rejects when it has ended. */
  readonly ask: <Answer>(command: Command) => Promise<Answer>;
  readonly close: () => void;
}

/** Starts one; `node` is another Node than this one's. */
export function startOther(
  env: Readonly<Record<string, string>> = {},
  node?: string,
): OtherProcess {
  const child = spawn(node ?? process.execPath, ['--import', 'tsx', FILE], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask<Answer>(command: Command): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error('The other process has ended.');
      return JSON.parse(value) as Answer;
    },
    close: () => child.stdin.end(),
  };
}
