import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cliProgram, servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { CALLBACK_SECRET, openReceiver } from '../support/callback-receiver.ts';
import { RUNS_ALL } from '../support/extent.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OPENAI = import.meta.resolve('@ai-sdk/openai');
const INDEX = pathToFileURL(join(ROOT, 'src/index.ts')).href;

/**
 * An agent that answers in its second turn, one that waits until it is aborted, and two that reach
 * no provider.
 */
const AGENTS = `
import { createOpenAI, openai } from '${OPENAI}';
import { defineAgent, type AgentModel } from '${INDEX}';
const usage = { inputTokens: 100, outputTokens: 10 };
const quick: AgentModel = async ({ iteration }) =>
  ({ content: iteration < 2 ? 'no section' : '<answer>done</answer>', usage });
const stuck: AgentModel = (_request, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
export const agents = [
  defineAgent({ name: 'quick', mode: 'react', model: quick }),
  defineAgent({ name: 'stuck', mode: 'react', model: stuck }),
  defineAgent({ name: 'keyless', model: openai('gpt-5-mini') }),
  defineAgent({
    name: 'unreached',
    model: createOpenAI({ apiKey: 'any', baseURL: 'http://127.0.0.1:2/v1' })('gone'),
  }),
];
`;

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-cli-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await shareBundle(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function environment(): Record<string, string | undefined> {
  const { address, namespace } = inject('temporal');
  return {
    PATH: process.env['PATH'],
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_TASK_QUEUE: 'cli-test',
    EVERLOOP_DATA_DIR: folder,
    EVERLOOP_LOG_LEVEL: 'ERROR',
    // A misspelt agent is not waited for.
    EVERLOOP_ELSEWHERE_MS: '0',
    EVERLOOP_CALLBACK_SECRET: CALLBACK_SECRET,
  };
}

function everloop(...args: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [...(args.includes('--serve') ? servingProgram() : cliProgram()), ...args],
      { cwd: folder, env: environment() },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      },
    );
  });
}

describe('the program, with a worker of its own', () => {
  it('runs an agent, tells of bad input, and steers a live run', async () => {
    const [quickId, stuckId] = [`quick-${randomUUID()}`, `stuck-${randomUUID()}`];
    const worker = spawn(process.execPath, [...servingProgram(), 'worker', '--json'], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(worker, 'exit');
    try {
      await once(createInterface({ input: worker.stderr }), 'line');

      const done = await everloop('run', 'quick', 'go', '--id', quickId, '--json');
      expect({ code: done.code, step: JSON.parse(done.stdout) as unknown }).toMatchObject({
        code: 0,
        step: { status: 'success', value: 'done', iterations: 2, usage: { totalTokens: 220 } },
      });

      const again = await everloop('run', 'quick', 'go', '--id', quickId);
      expect(again).toMatchObject({
        code: 2,
        stderr: `Expected a free run id, got \`${quickId}\`, which another run has. Choose another id, or follow that run with \`--attach\`.\n`,
      });

      const unknown = await everloop('run', 'quik', 'go');
      expect(unknown.code).toBe(1);
      expect(unknown.stderr).toContain(
        'Expected an agent that the worker has (quick, stuck, keyless, unreached), got `quik`. Did you mean `quick`?',
      );

      expect(await everloop('send', quickId, 'more')).toMatchObject({
        code: 2,
        stderr: `Expected run \`${quickId}\` to be alive, got one that is COMPLETED. Start a new run.\n`,
      });
      expect(await everloop('show', 'nobody')).toMatchObject({
        code: 2,
        stderr:
          "Expected the id of a run that is alive or within the service's retention, got `nobody`. List the runs to find it.\n",
      });

      await everloop('run', 'stuck', 'wait', '--id', stuckId, '--detach');
      const sent = await everloop('send', stuckId, 'more', '--json');
      expect(JSON.parse(sent.stdout)).toEqual({ id: stuckId, position: 1 });
      await everloop('cancel', stuckId, '--message', 'enough');
      const followed = await everloop('logs', stuckId, '-f');
      expect(followed.stdout).toMatch(/execution:after canceled \(canceled\)\n$/);
      const shown = await everloop('show', stuckId, '--json');
      expect(JSON.parse(shown.stdout)).toMatchObject({
        step: { status: 'canceled', message: 'enough' },
      });
    } finally {
      worker.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  }, 150_000);

  it('serves the agent file by itself, and calls back before it ends', async () => {
    const hook = await openReceiver();
    const args = ['run', 'quick', 'go', '--serve', '--on-event', hook.url];
    const { code, stdout, stderr } = await everloop(...args);
    await hook.close();

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
    expect(stderr).toMatch(/success · 2 iterations · 220 tokens/);
    expect(hook.received).toMatchObject([{ isSigned: true, body: { type: 'run.ended' } }]);
  });

  it.runIf(RUNS_ALL)('says which key a model lacks, and ends with exit code 1', async () => {
    const { code, stdout, stderr } = await everloop('run', 'keyless', 'go', '--serve');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/error \(model_auth\).*\n.* in OPENAI_API_KEY, got none\. Set it/);
  });

  it.runIf(RUNS_ALL)('says that a provider cannot be reached, while it tries again', async () => {
    const child = spawn(
      process.execPath,
      [...servingProgram(), 'run', 'unreached', 'go', '--serve'],
      { cwd: folder, env: environment(), stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface(child.stderr)) {
      lines.push(line);
      if (line.includes('ECONNREFUSED')) break;
    }
    child.kill('SIGINT');
    await exited;

    expect(lines.at(-1)).toMatch(
      /model .*gone \(attempt \d of 8.*: The provider could not be reached \(ECONNREFUSED\)\./,
    );
  });
});
