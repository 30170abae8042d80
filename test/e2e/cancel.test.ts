import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { modelAt, sse } from '../support/aimock.ts';
import { checkedEvents, endingOf } from '../support/ended-run.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL, withinMs } from '../support/extent.ts';
import { abortOf, act, answer, bodiesOf, gate, searchTool } from '../support/runs.ts';
import {
  piece,
  PROVIDER_TOKENS,
  slowProviders,
  type ProviderReply,
  type SlowProvider,
} from '../support/slow-provider.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

/** A user's cancel aborts the HTTP request within this time. */
const ABORT_WITHIN_MS = withinMs(1_500);

let stage: Stage;
const providers = slowProviders();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(() => providers.stop());
afterAll(() => stage.close());

/** A worker for agent `tester`, whose provider plays `replies` over HTTP. */
async function serve(
  replies: readonly ProviderReply[],
  fields: Partial<AgentOptions> = {},
  parts: Parameters<Stage['serve']>[1] = {},
): Promise<Served & { readonly provider: SlowProvider }> {
  const provider = await providers.start(replies);
  const model = { id: 'slow', model: modelAt(provider.url, 'openai-compatible') };
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model,
    tools: [searchTool()],
    ...fields,
  });
  return { ...(await stage.serve([agent], parts)), provider };
}

const NEVER_ENDS: ProviderReply = { kind: 'never ends' };

/**
 * A model whose reply breaks off and has its cost, at each attempt: behind the n-th it wants the n-th of
 * `waits` to pass, in seconds.
 */
function breaking(...waits: readonly number[]): {
  readonly model: ModelFunction;
  readonly attempts: () => number;
} {
  let attempts = 0;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = PROVIDER_TOKENS;
  const usage = { inputTokens, outputTokens };
  return {
    attempts: () => attempts,
    model: async () => {
      const headers = { 'retry-after': String(waits[attempts]) };
      attempts += 1;
      throw Object.assign(new Error('broke off'), { usage, headers });
    },
  };
}

/** Until a run waits between two attempts of its model call. */
async function untilItWaits(run: RunHandle): Promise<void> {
  await eventually('the wait behind an attempt', async () => {
    const { raw } = await stage.client.workflow.getHandle(run.id).describe();
    return (raw.pendingActivities ?? []).length === 0;
  });
}

describe('a cancel in a model call', () => {
  it('aborts the HTTP request in time and counts what it had cost [row 2]', async () => {
    const { everloop, provider } = await serve([NEVER_ENDS]);
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('a request', () => provider.requests.length === 1);

    const canceledAt = Date.now();
    await run.cancel('changed my mind');
    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: 'changed my mind',
      iterations: 1,
    });
    expect(step.usage).toMatchObject({
      inputTokens: PROVIDER_TOKENS.prompt_tokens,
      outputTokens: PROVIDER_TOKENS.completion_tokens,
      modelCalls: 1,
    });
    const abortedAt = await eventually('an abort', () => provider.abortedAt[0]);
    expect(abortedAt - canceledAt).toBeLessThanOrEqual(ABORT_WITHIN_MS);
    expect(provider.requests).toHaveLength(1);
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:model_call:after').map(({ error }) => error)).toEqual([
      { code: 'aborted', message: 'canceled before it finished' },
    ]);
  });

  it('[row 2] is heard in the process of the workflow, without a heartbeat', async () => {
    // The first heartbeat comes after 2 s, and the next one after 200 s.
    const { everloop, provider } = await serve([NEVER_ENDS], {}, { heartbeatMs: 600_000 });
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('a heartbeat', async () => {
      const { raw } = await stage.client.workflow.getHandle(run.id).describe();
      return raw.pendingActivities?.some(({ heartbeatDetails }) => heartbeatDetails != null);
    });

    await run.cancel();
    const step = await run.result();

    expect(step).toMatchObject({ status: 'canceled', usage: { modelCalls: 1 } });
    expect(step.usage.inputTokens).toBe(PROVIDER_TOKENS.prompt_tokens);
    await eventually('an abort', () => provider.abortedAt.length === 1);
    await checkedEvents(stage, run);
  });

  it('counts what failed attempts had cost, though it waits for the next one', async () => {
    const { model, attempts } = breaking(1, 3_600);
    const { everloop } = await serve([], { model: { id: 'broken', model } });
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('two attempts', () => attempts() === 2);
    await untilItWaits(run);

    await run.cancel();
    const step = await run.result();

    expect(attempts()).toBe(2);
    expect(step).toMatchObject({ status: 'canceled', iterations: 1 });
    expect(step.usage).toMatchObject({
      inputTokens: 2 * PROVIDER_TOKENS.prompt_tokens,
      outputTokens: 2 * PROVIDER_TOKENS.completion_tokens,
      modelCalls: 1,
    });
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:model_call:after')).toMatchObject([
      { attempts: 2, usageKnown: true, error: { code: 'aborted' } },
    ]);
  });

  it('ends the workflow as cancelled when the service asks, and still gives the Step', async () => {
    const { everloop, provider } = await serve([NEVER_ENDS]);
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('a request', () => provider.requests.length === 1);

    await stage.client.workflow.getHandle(run.id).cancel();
    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: 'canceled through the service',
      iterations: 1,
    });
    expect(step.usage.inputTokens).toBe(PROVIDER_TOKENS.prompt_tokens);
    const { status } = await stage.client.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('CANCELLED');
    expect(await run.status()).toMatchObject({ state: 'ended', step });
    await checkedEvents(stage, run);
  });

  it('is not what an interrupting input does: the model is asked again with it [row 8]', async () => {
    const { everloop, provider } = await serve([NEVER_ENDS, answer('as you wish')]);
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('a request', () => provider.requests.length === 1);

    await run.send('Stop that, be brief.', { kind: 'interrupt' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'as you wish', iterations: 2 });
    expect(step.usage).toMatchObject({ inputTokens: 80, outputTokens: 4, modelCalls: 2 });
    await eventually('an abort', () => provider.abortedAt.length === 1);
    expect(provider.requests[1]).toContain('Stop that, be brief.');
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:iteration:after').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'end',
    ]);
  });
});

describe('a limit', () => {
  const breaks: ProviderReply = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([piece('word ')]), () => response.destroy());
  };

  it('counts what failed attempts had cost before another one begins', async () => {
    const { everloop, provider } = await serve([breaks]);
    const run = await everloop.start('tester', { task: 'Go', limits: { totalTokens: 83 } });

    const step = await run.result();

    // 42 tokens each: the second attempt crosses the limit, and there is no third.
    expect(provider.requests).toHaveLength(2);
    expect(step).toMatchObject({
      status: 'limit_exceeded',
      message: 'limit exceeded: agent:total_tokens is 84, the limit is 83',
      usage: { totalTokens: 84, modelCalls: 1, modelCallRetries: 1 },
    });
    await checkedEvents(stage, run);
  });

  it.runIf(RUNS_ALL)(
    'that is lowered while a call waits for its next attempt binds that attempt',
    async () => {
      const { model, attempts } = breaking(15);
      const { everloop } = await serve([], { model: { id: 'broken', model } });
      const run = await everloop.start('tester', { task: 'Go' });
      await eventually('an attempt', () => attempts() === 1);
      await untilItWaits(run);

      await run.adjust({ totalTokens: 41 });
      const step = await run.result();

      expect(attempts()).toBe(1);
      expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:total_tokens' });
      await checkedEvents(stage, run);
    },
  );
});

/** Milliseconds from `startedAt` to two seconds from now: as a limit it trips in what goes on now. */
function soonAfter(startedAt: number): number {
  return Date.now() - startedAt + 2_000;
}

/** What became of the timers of a run. */
async function timersOf(run: RunHandle): Promise<object> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const count = (isOne: (event: NonNullable<typeof events>[number]) => boolean): number =>
    (events ?? []).filter(isOne).length;
  return {
    started: count((event) => event.timerStartedEventAttributes != null),
    canceled: count((event) => event.timerCanceledEventAttributes != null),
    fired: count((event) => event.timerFiredEventAttributes != null),
  };
}

describe('a deadline', () => {
  it('ends a model call within a second of its time [row 46]', async () => {
    const { everloop, provider } = await serve([NEVER_ENDS]);
    const startedAt = Date.now();
    const run = await everloop.start('tester', { task: 'Go', limits: { wallClockMs: 600_000 } });
    await eventually('a request', () => provider.requests.length === 1);

    const wallClockMs = soonAfter(startedAt);
    await run.adjust({ wallClockMs });
    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'limit_exceeded',
      reason: 'agent:wall_clock_ms',
      message: `limit exceeded: agent:wall_clock_ms is ${step.exceededLimit?.value}, the limit is ${wallClockMs}`,
      iterations: 1,
    });
    expect(step.usage.inputTokens).toBe(PROVIDER_TOKENS.prompt_tokens);
    const events = await checkedEvents(stage, run);
    const breach = events.find(({ type }) => type === 'agent:limit_exceeded');
    expect(step.exceededLimit?.value).toBeGreaterThan(wallClockMs);
    expect(Number(step.exceededLimit?.value) - wallClockMs).toBeLessThanOrEqual(withinMs(1_000));
    const abortedAt = await eventually('an abort', () => provider.abortedAt[0]);
    expect(abortedAt - Number(breach?.at)).toBeLessThanOrEqual(ABORT_WITHIN_MS);
  });

  it('is moved by an adjustment before it is due, and not behind it [row 46]', async () => {
    const release = gate();
    let begun = 0;
    const tools = [
      searchTool((query, { signal }) => {
        begun += 1;
        return Promise.race([release.opened, abortOf(signal)]).then(() => query);
      }),
    ];
    const { everloop } = await serve([act('a'), act('a'), answer()], { tools });
    const startedAt = Date.now();
    const start = (): Promise<RunHandle> =>
      everloop.start('tester', { task: 'Go', limits: { wallClockMs: 600_000 } });
    const [early, late] = await Promise.all([start(), start()]);
    await eventually('both calls', () => begun === 2);

    await early.adjust({ wallClockMs: 'unlimited' });
    await late.adjust({ wallClockMs: soonAfter(startedAt) });
    const ended = await late.result();
    const tooLate = late.adjust({ wallClockMs: 'unlimited' });

    await expect(tooLate).rejects.toMatchObject({ code: 'run_ended' });
    expect(ended).toMatchObject({ status: 'limit_exceeded', iterations: 1 });
    expect(await early.status()).toMatchObject({ state: 'running', waitsFor: ['tool search'] });
    // The one timer of each deadline: that of `early` is gone, `late` had two.
    expect(await timersOf(early)).toEqual({ started: 1, canceled: 1, fired: 0 });
    expect(await timersOf(late)).toEqual({ started: 2, canceled: 1, fired: 1 });
    release.open();
    expect(await early.result()).toMatchObject({ status: 'success' });
    await checkedEvents(stage, early);
    await checkedEvents(stage, late);
  });
});

describe('a cancel elsewhere [row 2]', () => {
  it('before the start ends the run with nothing done', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: { id: 'm', model: async () => 'unused' },
    });
    const taskQueue = `cancel-${randomUUID()}`;
    const run = await stage.everloopOf(taskQueue).start('tester', { task: 'Go' });
    await run.cancel('too early');

    await stage.serve([agent], { taskQueue });

    expect(endingOf(await run.result())).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: 'too early',
      iterations: 0,
    });
    await checkedEvents(stage, run);
  });

  it('in a tool reaches its signal and is recorded as canceled', async () => {
    const begun = gate();
    let aborted = false;
    const tool = searchTool(async (_query, { signal }) => {
      begun.open();
      await abortOf(signal);
      aborted = true;
      throw new Error('stopped');
    });
    const { everloop } = await serve([act('a', 'b')], { tools: [tool] });
    const run = await everloop.start('tester', { task: 'Go' });
    await begun.opened;

    await run.cancel();
    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: undefined,
      iterations: 1,
    });
    expect(aborted).toBe(true);
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual([
      'canceled',
      'canceled',
    ]);
  });

  it('in a tool that ignores its signal ends a few seconds later', async () => {
    const begun = gate();
    const release = gate();
    const tool = defineTool({
      name: 'deaf',
      description: 'Never listens.',
      effect: 'once',
      execute: async () => {
        begun.open();
        await release.opened;
      },
    });
    const reply = '<action>\n- tool: deaf\n  args: {}\n</action>';
    const { everloop } = await serve([reply], { tools: [tool] });
    const run = await everloop.start('tester', { task: 'Go' });
    await begun.opened;

    await run.cancel();
    const step = await run.result();
    release.open();

    expect(step.status).toBe('canceled');
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual([
      'unknown',
    ]);
  });

  it('in a `once` tool that no worker has begun is no unknown outcome', async () => {
    const execute = vi.fn();
    const tool = defineTool({ name: 'pay', description: 'Pays.', effect: 'once', execute });
    const model = { id: 'm', model: async () => '<action>\n- tool: pay\n  args: {}\n</action>' };
    const agent = defineAgent({ name: 'tester', mode: 'react', model, tools: [tool] });
    const { everloop } = await stage.serve([agent], {
      toolQueue: `nobody-polls-${randomUUID()}`,
      roles: ['workflows', 'models'],
    });
    const run = await everloop.start('tester', { task: 'Go' });
    await eventually('the call', async () => (await run.status()).waitsFor[0] === 'tool pay');

    await run.cancel();
    const step = await run.result();

    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'canceled', started: false, attempts: 0 },
    ]);
    expect(step.stats).not.toHaveProperty(['counters', 'agent:tool_calls']);
    expect(execute).not.toHaveBeenCalled();
  });

  it('in a judge ends the run without an answer', async () => {
    const begun = gate();
    const release = gate();
    const validator = defineValidator({
      name: 'slow',
      validate: async () => {
        begun.open();
        await release.opened;
        return { accepted: true };
      },
    });
    const { everloop } = await serve([answer()], { validators: [validator] });
    const run = await everloop.start('tester', { task: 'Go' });
    await begun.opened;

    await run.cancel();
    const step = await run.result();
    release.open();

    expect(step).toMatchObject({ status: 'canceled', value: null, iterations: 1 });
    await checkedEvents(stage, run);
  });

  it('in a pause ends the run there', async () => {
    const { everloop } = await serve([act('a'), answer()], {
      tools: [searchTool(async () => paused.opened)],
    });
    const paused = gate();
    const run = await everloop.start('tester', { task: 'Go' });
    await run.pause();
    paused.open();
    await eventually('the pause', async () => (await run.status()).waitsFor.length === 0);
    expect(await run.pending()).toMatchObject([{ id: 'pause', kind: 'pause', agent: 'tester' }]);

    await run.cancel('enough');
    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: 'enough',
      iterations: 1,
    });
    await checkedEvents(stage, run);
  });
});
