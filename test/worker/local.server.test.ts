import { blocked } from '../../src/core/base/blocked.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { defineAgent, type AgentDefinition, type ModelFunction } from '../../src/index.ts';
import { local, type LocalOptions } from '../../src/worker/serve/local.ts';
import { isPortTaken } from '../../src/worker/server/server-probe.ts';
import { readServerState } from '../../src/worker/server/server-state.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-local-'));
  await shareBundle(folder);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Options for a server of the test's own. */
function withOwnServer(agents: readonly AgentDefinition[]): LocalOptions {
  return { agents, env: {}, dataDir: folder, server: { port: 'free', cliDir: CLI_FOLDER } };
}

/** Options for the server of the test run. */
function onTestServer(agents: readonly AgentDefinition[]): LocalOptions {
  return { agents, env: {}, dataDir: folder, ...inject('temporal') };
}

const answering: ModelFunction = async (_request, { onChunk }) => {
  onChunk({ kind: 'text', delta: '<answer>four' });
  onChunk({ kind: 'text', delta: '</answer>' });
  return '<answer>four</answer>';
};

async function isListening(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return isPortTaken(host, Number(port));
}

describe('local', () => {
  it('starts a server, serves, streams, and stops all of it', async () => {
    const everloop = await local(
      withOwnServer([defineAgent({ name: 'adder', mode: 'react', model: answering })]),
    );
    const { address, taskQueue } = everloop;
    expect(await everloop.agents()).toMatchObject({
      agents: [
        { name: 'adder', mode: 'react', taskQueue, workers: [expect.stringContaining('@')] },
      ],
      silent: [],
    });
    const run = await everloop.start('adder', { task: 'What is two and two?' });
    const pieces: string[] = [];
    for await (const item of run.stream()) if ('delta' in item) pieces.push(item.delta);
    const step = await run.result();
    await everloop.close();

    expect(step).toMatchObject({ status: 'success', value: 'four' });
    // What came before the reader was there is gone: text that streams is provisional.
    expect(['<answer>four</answer>', '</answer>', '']).toContain(pieces.join(''));
    expect(await isListening(address)).toBe(false);
    expect(await readServerState(join(folder, 'server.json'))).toBeUndefined();
  });

  it.runIf(RUNS_ALL)('stops what it had started when a later start fails', async () => {
    const agent = defineAgent({ name: 'adder', mode: 'react', model: answering });

    const starting = local({
      ...withOwnServer([agent]),
      workflowsPath: join(folder, 'missing.ts'),
    });

    await expect(starting).rejects.toMatchObject({ code: 'workflow_bundle' });
    expect(await readServerState(join(folder, 'server.json'))).toBeUndefined();
  });

  it('runs an agent to its value in one call, and throws what ended a run without one', async () => {
    const agent = defineAgent({
      name: 'adder',
      mode: 'json',
      model: async ({ messages }) =>
        JSON.stringify(messages).includes('infinity') ? blocked('No sum.') : '{"sum": 4}',
      signature: '(left :string, right :string) -> {sum :int}',
      prompt: 'What is {{left}} and {{right}}?',
    });
    const everloop = await local(onTestServer([agent]));

    const { sum } = await everloop.run(agent, { context: { left: 'two', right: 'two' } });
    const named = await everloop.run<typeof agent>('adder', { context: { left: '1', right: '3' } });
    const failed = everloop.run(agent, { context: { left: 'infinity', right: '1' } });
    await expect(failed).rejects.toMatchObject({ code: 'run_failed' });
    await everloop.close();

    expect([sum, named]).toEqual([4, { sum: 4 }]);
  });

  it('refuses two agents of one name before it starts anything', async () => {
    const agent = (): AgentDefinition =>
      defineAgent({ name: 'adder', mode: 'react', model: answering });

    await expect(local(withOwnServer([agent(), agent()]))).rejects.toMatchObject({
      code: 'duplicate_agent',
      message: 'Expected agent names to be unique, got two agents named `adder`. Rename one.',
    });
    expect(await readServerState(join(folder, 'server.json'))).toBeUndefined();
  });

  it.runIf(RUNS_ALL)(
    'can be closed while a result is awaited, and goes on when it is opened again',
    async () => {
      let mayAnswer = false;
      const model: ModelFunction = (_request, { signal }) =>
        mayAnswer
          ? Promise.resolve('<answer>at last</answer>')
          : new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('aborted')));
            });
      const options = {
        ...onTestServer([defineAgent({ name: 'patient', mode: 'react', model })]),
        shutdownGraceMs: 500,
      };
      const first = await local(options);
      const run = await first.start('patient', { task: 'Wait.' });
      const lost = run.result().catch(() => 'lost');
      await eventually(
        'the model call',
        async () => (await run.status()).waitsFor[0] === 'model patient/model',
      );
      await first.close();
      await lost;

      mayAnswer = true;
      const second = await local(options);
      const step = await second.attach(run.id).result();
      await second.close();

      expect(second.taskQueue).toBe(first.taskQueue);
      expect(step).toMatchObject({ status: 'success', value: 'at last' });
    },
  );
});
