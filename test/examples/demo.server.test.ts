/** The first command of the README, as a user runs it: a server, two worker processes, a kill. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { Fact } from '../../examples/demo/facts.ts';
import { RUNS_ALL } from '../support/extent.ts';

const DEMO = fileURLToPath(new URL('../../examples/demo/demo.ts', import.meta.url));

let demo: ChildProcess | null = null;
afterAll(() => {
  if (demo?.exitCode === null) demo.kill('SIGTERM');
});

/** Some 20 s on a quiet machine. */
const DEADLINE_MS = 300_000;

it.runIf(RUNS_ALL)(
  'the demo shows what it promises, and exits with 0',
  { timeout: DEADLINE_MS },
  async () => {
    const { OPENAI_API_KEY, TEMPORAL_ADDRESS, ...env } = process.env;
    void [OPENAI_API_KEY, TEMPORAL_ADDRESS];
    demo = spawn(process.execPath, ['--import', 'tsx', DEMO, '--json'], {
      env: { ...env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = demo;
    if (stdout === null || stderr === null) throw new Error('Expected the output of the demo.');
    const [printed, shown, [code]] = await Promise.all([
      text(stdout),
      text(stderr),
      once(demo, 'exit'),
    ]);

    const facts = JSON.parse(printed) as readonly Fact[];
    expect(facts.filter(({ holds }) => !holds)).toEqual([]);
    expect(facts.length).toBeGreaterThanOrEqual(10);
    expect(shown).toContain('kill -9');
    expect(shown).toContain('Everything held.');
    expect(code).toBe(0);
  },
);
