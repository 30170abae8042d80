import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { pricedAgents } from '../support/priced-agents.ts';
import type { PricedWorker } from '../support/fixtures/serve-priced.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { honestProvider } from '../support/honest-provider.ts';
import { PROVIDER_TOKENS, slowProviders } from '../support/slow-provider.ts';
import { delegate, endedRuns, ownSums } from '../support/trees.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import { eventually } from '../support/eventually.ts';
import { abortOf, act, answer, bodiesOf, gate, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
const providers = slowProviders();
const workers = fixtureProcesses<PricedWorker>('serve-priced');
afterEach(() => providers.stop());
afterAll(async () => {
  await workers.stop();
  await stage.close();
});

/** An agent whose first reply makes `calls` in one batch. */
function buyer(
  calls: readonly string[],
  execute: (query: string, context: ToolContext) => unknown,
): ReturnType<typeof defineAgent> {
  return defineAgent({
    name: 'buyer',
    mode: 'react',
    tools: [searchTool(execute)],
    model: {
      id: 'script/m',
      price: { input: 0, output: 0 },
      model: async ({ iteration }) => (iteration === 1 ? act(...calls) : answer()),
    },
  });
}

const ORDERS = [
  ['slow', 'spend'],
  ['spend', 'slow'],
] as const;

const SPENDING = [
  {
    name: 'a count',
    limits: { custom: [{ kind: 'exact', key: 'shop:spent', max: 3 } as const] },
    spend: ({ count }: ToolContext) => count('shop:spent', 5),
  },
  {
    name: 'a reported cost',
    limits: { costUsd: 0.000003 },
    spend: ({ reportModelCall }: ToolContext) => reportModelCall('m', { costMicroUsd: 5 }),
  },
];

describe('a batch on a server', () => {
  it.each(ORDERS.flatMap((calls) => SPENDING.map((row) => ({ ...row, calls }))))(
    '[R7] $calls: the call that crosses a limit by $name aborts the other',
    async ({ calls, limits, spend }) => {
      // Nothing but an abort ends the slow one.
      const agent = buyer(calls, async (query, context) => {
        if (query === 'spend') spend(context);
        else await abortOf(context.signal);
        return query;
      });
      const { everloop, stop } = await stage.serve([agent]);

      const run = await everloop.start('buyer', { task: 'Buy', limits });
      const step = await run.result();

      expect(step.status).toBe('limit_exceeded');
      const ends = bodiesOf(await run.events(), 'agent:tool_call:after');
      expect(ends.map(({ args }) => args)).toEqual([{ query: 'spend' }, { query: 'slow' }]);
      await stage.replay(run);
      await stop();
    },
  );

  it.each(ORDERS)('[R7] [%s, %s]: the status shows each call as it ends', async (...calls) => {
    const opened = gate();
    const agent = buyer(calls, async (query) => {
      if (query === 'slow') await opened.opened;
      return query;
    });
    const { everloop, stop } = await stage.serve([agent]);
    const run = await everloop.start('buyer', { task: 'Buy' });

    await eventually('the end of the first call', async () => {
      const { usage } = await run.status();
      return usage?.toolCalls === 1;
    });
    opened.open();

    expect((await run.result()).usage.toolCalls).toBe(2);
    await stop();
  });
});

describe('a tree on a server', () => {
  it('[R8] of four children does not overrun its limit on cost', async () => {
    const provider = honestProvider({
      output: ({ iteration }) => 900 * iteration,
      content: ({ agent, iteration }) => {
        if (agent === 'leaf') return iteration < 4 ? act('a') : answer();
        const calls = ['1', '2', '3', '4'].map((task) => ['leaf', task] as const);
        return iteration === 1 ? delegate(...calls) : answer();
      },
    });
    const model = { id: 'm', model: provider.model, price: { input: 2.5, output: 10 } };
    const leaf = defineAgent({ name: 'leaf', mode: 'react', model, tools: [searchTool()] });
    const root = defineAgent({
      name: 'root',
      mode: 'react',
      model,
      tools: [agentTool({ agent: leaf })],
    });
    const { everloop, stop } = await stage.serve([root]);

    const run = await everloop.start('root', { task: 'Go', limits: { costUsd: 0.1 } });
    const ended = await endedRuns(everloop, run);

    const spent = ownSums(ended.map(({ step }) => step.stats))['agent:cost_microusd'] ?? 0;
    expect(spent).toBeLessThanOrEqual(100_000);
    expect(spent).toBeGreaterThan(50_000);
    expect(ended.some(({ step }) => step.status === 'limit_exceeded')).toBe(true);
    for (const one of ended) await stage.replay(one.run);
    await stop();
  });
});

describe('an attempt of a model call on a server', () => {
  const total = PROVIDER_TOKENS.prompt_tokens + PROVIDER_TOKENS.completion_tokens;

  it.runIf(RUNS_ALL)(
    '[R8] that died with its worker is estimated, apart from exact sums',
    async () => {
      const { url, requests } = await providers.start([{ kind: 'never ends' }, 'done']);
      const taskQueue = `killed-${randomUUID()}`;
      const { address, namespace } = stage;
      const place = { address, namespace, archiveDir: stage.folder, taskQueue, url };
      const worker = await workers.start(place);
      const everloop = stage.everloopOf(taskQueue);
      const run = await everloop.start('reader', { task: 'Read this, and say what it is about.' });
      await eventually('the first request', () => requests.length === 1);
      await worker.kill('SIGKILL');
      await workers.start(place);

      const step = await run.result();

      expect(step.value).toBe('done');
      expect(step.usage.totalTokens).toBe(total);
      const { totalTokens, costMicroUsd } = step.usage.estimated ?? { totalTokens: 0 };
      expect(totalTokens).toBeGreaterThan(5);
      expect(costMicroUsd).toBe(totalTokens);
      expect(step.stats.counters['agent:estimated_tokens']).toBe(totalTokens);
      expect(step.stats.counters['agent:estimated_cost']).toBe(costMicroUsd);
    },
  );

  it('[R8] that failed by itself is not estimated', async () => {
    const { url, requests } = await providers.start([
      (response) => {
        response.writeHead(503);
        response.end('busy');
      },
      'done',
    ]);
    const { everloop, stop } = await stage.serve(pricedAgents(url));

    const step = await (await everloop.start('reader', { task: 'Read.' })).result();

    expect(requests).toHaveLength(2);
    expect(step.usage.modelCallRetries).toBe(1);
    expect(step.usage.estimated).toBeUndefined();
    await stop();
  });
});
