/** The parent's side of `program-process.ts`. */
import { buildSync } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command } from './program-process.ts';

const FILE = fileURLToPath(new URL('program-process.ts', import.meta.url));

let built: string | undefined;

/** The program in one text, which Node loads much faster than the sources. */
function builtProgram(): string {
  built ??= buildSync({
    entryPoints: [FILE],
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  }).outputFiles[0]?.text;
  return built ?? '';
}

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
  const folder = mkdtempSync(join(tmpdir(), 'everloop-programs-'));
  const file = join(folder, 'program-process.mjs');
  writeFileSync(file, builtProgram());
  const child = spawn(node ?? process.execPath, [file], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask<Answer>(command: Command): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await answers.next();
      // It is loaded, or will never be.
      rmSync(folder, { recursive: true, force: true });
      if (done === true) throw new Error('The other process has ended.');
      return JSON.parse(value) as Answer;
    },
    close: () => child.stdin.end(),
  };
}
