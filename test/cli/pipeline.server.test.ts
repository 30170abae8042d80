/** `everloop run` on a pipeline, from an agent file, on a real server: its stages, its people, its ends. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { processIo } from '../../src/cli/terminal/io.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';

const INDEX = pathToFileURL(fileURLToPath(new URL('../../src/index.ts', import.meta.url))).href;

/** A writer, two who look at the draft side by side, a person, a printer. Facts on mud fail. */
const AGENTS = `
import { defineAgent, humanStep, pipeline } from '${INDEX}';
const usage = { inputTokens: 90, outputTokens: 10 };
const stage = (name: string, prompt: string) =>
  defineAgent({
    name,
    mode: 'text',
    prompt,
    model: async ({ messages }) => {
      const part = messages.at(-1)?.parts[0];
      const asked = part?.type === 'text' ? part.text : '';
      if (name === 'facts' && asked.includes('mud')) throw Object.assign(new Error('no ink'), { status: 401 });
      return { content: name + '(' + asked + ')', usage };
    },
  });
const [writer, facts, style, printer] = [
  stage('writer', '{{task}}'),
  stage('facts', '{{input}}'),
  stage('style', '{{input}}'),
  stage('printer', '{{answer}}: {{facts}}, {{style}}'),
];
const review = humanStep({ question: 'Print {{facts}}?', options: ['yes', 'no'] });
export const agents = [pipeline('press', [writer, [facts, style], review, printer])];
`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-press-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await shareBundle(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A command line that goes on. */
interface Running {
  readonly stderr: () => string;
  readonly ended: Promise<{
    readonly exitCode: number;
    readonly stdout: string;
    readonly stderr: string;
  }>;
}

function everloop(...argv: readonly string[]): Running {
  const { address, namespace } = inject('temporal');
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
  });
  const exiting = runCli(argv, {
    ...processIo(),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    cwd: folder,
    env: {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      EVERLOOP_DATA_DIR: folder,
      EVERLOOP_TASK_QUEUE: 'press-test',
      EVERLOOP_LOG_LEVEL: 'ERROR',
    },
  });
  return {
    stderr: () => written.stderr,
    ended: exiting.then((exitCode) => ({ exitCode, ...written })),
  };
}

it(
  'runs its stages, waits for a person, and gives the value of the last stage [sub 16]',
  { timeout: 180_000 },
  async () => {
    const id = `press-${randomUUID()}`;
    const running = everloop('run', 'press', 'x', '--id', id, '--serve', '--json');
    await eventually('the question', () => running.stderr().includes('question q1'), 90_000);

    const answered = await everloop('answer', id, 'q1', 'yes').ended;
    const { exitCode, stdout, stderr } = await running.ended;

    expect(answered).toMatchObject({ exitCode: 0, stdout: `Answered q1 of run ${id}.\n` });
    const { children, ...step } = JSON.parse(stdout) as Step;
    expect({ exitCode, step }, stderr).toMatchObject({
      exitCode: 0,
      step: {
        agent: 'press',
        status: 'success',
        value: 'printer(yes: facts(writer(x)), style(writer(x)))',
        iterations: 4,
        usage: { modelCalls: 4, totalTokens: 400 },
      },
    });
    const ends = children.map(({ childId, agent, status }) => `${childId} ${agent} ${status}`);
    expect(ends.toSorted()).toEqual([
      `${id}/1.spawn-1 writer success`,
      `${id}/2.spawn-1 facts success`,
      `${id}/2.spawn-2 style success`,
      `${id}/4.spawn-1 printer success`,
    ]);
    expect(stderr).toMatch(/^success · 4 iterations · 400 tokens · /m);
  },
);

it.each([
  {
    name: 'a stage that fails',
    task: 'mud',
    args: [],
    said: [
      /^error \(chained_failure\) · 2 iterations · /m,
      /^upstream `facts` ended with model_auth: iteration 1: HTTP 401: no ink$/m,
    ],
  },
  {
    name: 'a limit of the whole',
    task: 'x',
    args: ['--limit', 'modelCalls=1'],
    said: [
      /^limit_exceeded \(agent:model_calls\) · 2 iterations · 100 tokens · /m,
      /^limit reached: agent:model_calls would be 2, the limit is 1$/m,
    ],
  },
])('ends at $name with its reason', async ({ task, args, said }) => {
  const { exitCode, stdout, stderr } = await everloop('run', 'press', task, ...args, '--serve')
    .ended;

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  for (const line of said) expect(stderr).toMatch(line);
});
