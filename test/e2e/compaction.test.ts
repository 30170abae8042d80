/** Compaction as a workflow does it: its model call is an activity that can fail, be cut and be forced. */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import {
  counter,
  mask,
  slidingWindow,
  summarize,
  type CompactionOptions,
} from '../../src/define/agent/define-compaction.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { modelAt } from '../support/aimock.ts';
import { checkedEvents, endingOf } from '../support/ended-run.ts';
import { eventually } from '../support/eventually.ts';
import { act, answer, bodiesOf, searchTool } from '../support/runs.ts';
import { slowProviders, type ProviderReply, type SlowProvider } from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const providers = slowProviders();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(() => providers.stop());
afterAll(() => stage.close());

/** Long enough to be masked. */
const HITS = 'hit,'.repeat(20);

const EACH: CompactionOptions['triggers'] = [counter('agent:iterations', 1)];
const NEVER: CompactionOptions['triggers'] = [counter('agent:iterations', 1_000)];

/** A run whose provider plays `replies` over HTTP, requests for summaries among them. */
async function start(
  replies: readonly ProviderReply[],
  compaction: CompactionOptions,
): Promise<{ readonly run: RunHandle; readonly provider: SlowProvider }> {
  const provider = await providers.start(replies);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: { id: 'm', model: modelAt(provider.url, 'openai-compatible') },
    tools: [searchTool(() => HITS)],
    compaction,
  });
  const { everloop } = await stage.serve([agent]);
  return { run: await everloop.start('tester', { task: 'Go' }), provider };
}

/** A refusal in the words that a provider has for a request that is too long. */
const TOO_LONG: ProviderReply = (response) => refuse(response, 400, 'context_length_exceeded');

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: code, type: 'test', code } }));
}

/** The texts of a request's messages, less the system message. */
function textsOf(body: string | undefined): readonly string[] {
  const { messages } = JSON.parse(body ?? '{"messages":[]}') as {
    readonly messages: readonly { readonly content: string }[];
  };
  return messages.slice(1).map(({ content }) => content);
}

const observed = (hits: string): string =>
  `<observation>\n<search>\n${hits}\n</search>\n</observation>`;

describe('a compaction in a workflow', () => {
  it.each([
    {
      name: 'a sliding window',
      compaction: { triggers: EACH, strategies: [slidingWindow(1)] },
      summaries: [],
      last: [act('b'), observed(HITS)],
    },
    {
      name: 'masking',
      compaction: { triggers: EACH, strategies: [mask({ keepRecent: 1, minBytes: 80 })] },
      summaries: [],
      last: [act('a'), observed('[result of search left out, 80 bytes]'), act('b'), observed(HITS)],
    },
    {
      name: 'summaries',
      compaction: { triggers: EACH, strategies: [summarize({ keepRecent: 1 })] },
      // After iteration 1 there is nothing but what is kept.
      summaries: ['a was looked for'],
      last: ['<summary>\na was looked for\n</summary>', act('b'), observed(HITS)],
    },
  ])('shows the model what is left: $name [row 49] [row 50] [row 51]', async (row) => {
    const { run, provider } = await start(
      [act('a'), act('b'), ...row.summaries, answer()],
      row.compaction,
    );

    const step = await run.result();

    expect(endingOf(step)).toEqual({
      status: 'success',
      reason: 'answered',
      message: undefined,
      iterations: 3,
    });
    expect(textsOf(provider.requests.at(-1))).toEqual([
      '<task>\nGo\n</task>',
      ...row.last,
      'Continue.',
    ]);
    expect(step.usage.modelCalls).toBe(3 + row.summaries.length);
    const events = await checkedEvents(stage, run);
    expect(
      bodiesOf(events, 'agent:compaction').map(({ strategy, epoch }) => [strategy, epoch]),
    ).toEqual([[row.compaction.strategies[0]?.kind, 2]]);
    // The history keeps what the scratchpad lost.
    expect((await run.transcript()).map(({ origin }) => origin)).toEqual([
      'original',
      'original',
      'original',
    ]);
  });

  it('that is canceled ends the run there [row 2] [row 51]', async () => {
    const { run, provider } = await start([act('a'), { kind: 'never ends' }], {
      triggers: EACH,
      strategies: [summarize()],
    });
    await eventually('a request for a summary', () => provider.requests.length === 2);

    await run.cancel('enough');

    expect(endingOf(await run.result())).toEqual({
      status: 'canceled',
      reason: 'canceled',
      message: 'enough',
      iterations: 1,
    });
    await eventually('an abort', () => provider.abortedAt.length === 1);
    const events = await checkedEvents(stage, run);
    expect(bodiesOf(events, 'agent:compaction')).toEqual([]);
    expect(bodiesOf(events, 'agent:model_call:after').map(({ purpose }) => purpose)).toEqual([
      'reply',
      'compaction',
    ]);
  });

  it('that fails fails the run, and its workflow [row 4] [row 51]', async () => {
    const { run } = await start([act('a'), (response) => refuse(response, 401, 'bad_key')], {
      triggers: EACH,
      strategies: [summarize()],
    });

    expect(endingOf(await run.result())).toEqual({
      status: 'compaction_failed',
      reason: 'compaction_failed',
      message: 'compaction after iteration 1: HTTP 401: bad_key',
      iterations: 1,
    });
    const { status } = await stage.client.workflow.getHandle(run.id).describe();
    expect(status.name).toBe('FAILED');
    await checkedEvents(stage, run);
  });

  it('is forced once when the provider says that a request is too long [row 51]', async () => {
    const { run, provider } = await start([act('a'), TOO_LONG, 'a was looked for', answer()], {
      triggers: NEVER,
      strategies: [summarize()],
    });

    expect(endingOf(await run.result())).toEqual({
      status: 'success',
      reason: 'answered',
      message: undefined,
      iterations: 2,
    });
    expect(textsOf(provider.requests.at(-1))).toEqual([
      '<task>\nGo\n</task>',
      '<summary>\na was looked for\n</summary>',
      'Continue.',
    ]);
    await checkedEvents(stage, run);
  });

  it('that was forced in vain ends the run [row 51]', async () => {
    const { run } = await start([act('a'), TOO_LONG, 'a was looked for', TOO_LONG], {
      triggers: NEVER,
      strategies: [summarize()],
    });

    expect(endingOf(await run.result())).toEqual({
      status: 'error',
      reason: 'context_too_long',
      message: 'iteration 2: HTTP 400: context_length_exceeded',
      iterations: 2,
    });
    await checkedEvents(stage, run);
  });
});
