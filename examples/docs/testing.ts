/** The examples of docs/testing.md; test/docs/testing.test.ts runs them. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition, type AgentModel } from '../../src/index.ts';
import {
  callInMemory,
  createFakeClock,
  scriptedModel,
  startInMemory,
  toolchainCases,
  type PartCase,
} from '../../src/testing.ts';
import { toml } from '../toml-calls/workflow.ts';

/** An agent whose larger refunds need a person. */
export function desk(model: AgentModel, refunded: (cents: number) => string): AgentDefinition {
  // #region agent
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string(), cents: z.number().int() }),
    effect: 'once',
    approval: ({ cents }) => cents > 5_000,
    approvalTimeoutMs: 24 * 60 * 60 * 1_000,
    execute: ({ cents }) => refunded(cents),
  });
  const desk = defineAgent({
    name: 'desk',
    model,
    instructions: 'You settle complaints.',
    tools: [refund],
    askUser: true,
  });
  // #endregion
  return desk;
}

const refundedAll = (cents: number): string => `refunded ${cents}`;

/** A first test: the replies of the model are a script. */
export async function callsItsTool(): Promise<void> {
  const refunded: number[] = [];
  const note = (cents: number): string => `refunded ${refunded.push(cents)}`;
  // #region first
  const script = scriptedModel([
    { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 1_200 } }] },
    'Your money is on its way.',
  ]);
  const run = startInMemory({ agent: desk(script.model, note), task: 'The cup was broken.' });
  const step = await run.result;

  assert.equal(step.status, 'success');
  assert.equal(step.value, 'Your money is on its way.');
  assert.deepEqual(refunded, [1_200]);
  script.assertDone();
  // #endregion
}

/** What the model was asked. */
export async function readsTheInstructions(): Promise<void> {
  const script = scriptedModel(['Done.']);
  // #region requests
  const agent = desk(script.model, refundedAll);
  await startInMemory({ agent, task: 'The cup was broken.' }).result;
  const [request] = script.requests;

  assert.match(JSON.stringify(request?.messages), /You settle complaints/);
  assert.deepEqual(
    request?.tools?.map(({ name }) => name),
    ['refund', 'ask_user'],
  );
  // #endregion
}

/** A reply that depends on the request, a failure of the provider, and a reply of its own usage. */
export async function livesWithFailures(): Promise<void> {
  // #region failures
  const script = scriptedModel([
    Object.assign(new Error('overloaded'), { statusCode: 503 }),
    ({ messages }) => ({
      content: `I read ${messages.length} messages.`,
      usage: { inputTokens: 2_000, outputTokens: 20 },
    }),
  ]);
  const clock = createFakeClock();
  const run = startInMemory({ agent: desk(script.model, refundedAll), task: 'Hello', clock });
  await clock.sleep(60_000); // the wait between two attempts
  const { value, usage } = await run.result;
  // #endregion
  assert.deepEqual([value, usage.totalTokens], ['I read 2 messages.', 2_020]);
}

/** A question and an approval. */
export async function asksPeople(): Promise<void> {
  const refunded: number[] = [];
  const note = (cents: number): string => `refunded ${refunded.push(cents)}`;
  // #region people
  const script = scriptedModel([
    { toolCalls: [{ name: 'ask_user', args: { question: 'Which order?' } }] },
    { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 9_900 } }] },
    'Settled.',
  ]);
  const run = startInMemory({ agent: desk(script.model, note), task: 'I want my money back.' });
  for (;;) {
    const seen = await run.resultOrPending();
    if (seen.kind === 'step') break;
    for (const { id, kind } of seen.pending) {
      if (kind === 'question') run.answer(id, 'A-7');
      if (kind === 'approval') run.decide(id, { args: { order: 'A-7', cents: 9_000 } });
    }
  }

  assert.deepEqual(refunded, [9_000]);
  // #endregion
}

/** A day passes in no time. */
export async function waitsADay(): Promise<void> {
  // #region time
  const script = scriptedModel([
    { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 9_900 } }] },
    'I could not reach anybody.',
  ]);
  const clock = createFakeClock('2026-03-10T09:00:00Z');
  const run = startInMemory({ agent: desk(script.model, refundedAll), task: 'Money!', clock });
  await run.resultOrPending();
  await clock.sleep(24 * 60 * 60 * 1_000);
  const step = await run.result;

  assert.equal(step.stats.counters['agent:approvals_requested'], 1);
  assert.equal(step.value, 'I could not reach anybody.');
  // #endregion
}

/** What the run recorded, and its limits. */
export async function staysWithinLimits(): Promise<void> {
  // #region limits
  const script = scriptedModel(
    Array.from({ length: 9 }, (_, n) => ({
      toolCalls: [{ name: 'refund', args: { order: `A-${n}`, cents: 100 } }],
    })),
  );
  const run = startInMemory({
    agent: desk(script.model, refundedAll),
    task: 'Refund everything.',
    limits: { toolCalls: 3 },
  });
  const step = await run.result;
  const called = run.events.filter(({ type }) => type === 'agent:tool_call:after');

  assert.equal(step.status, 'limit_exceeded');
  assert.equal(called.length, 3);
  // #endregion
}

/** A hand-over at every turn: the state goes through JSON, as between two links of a real run. */
export async function handsOver(): Promise<void> {
  const replies = [
    { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 1_200 } }] },
    'Your money is on its way.',
  ];
  // #region handover
  const run = startInMemory({
    agent: desk(scriptedModel(replies).model, refundedAll),
    task: 'The cup was broken.',
    handoverDue: () => true,
  });

  assert.equal((await run.result).value, 'Your money is on its way.');
  // #endregion
}

/** A call alone: checked, approved, retried and written as in a run, without a model. */
export async function callsAlone(): Promise<void> {
  // #region alone
  const { results } = callInMemory({
    agent: desk(scriptedModel([]).model, refundedAll),
    text: 'tool: refund\nargs:\n  order: A-7\n  cents: 1200',
  });
  const [result] = await results;

  assert.equal(result?.text, 'refunded 1200');
  // #endregion
}

/** The laws of a toolchain of one's own; `test` is that of any test runner. */
export function keepsItsLaws(test: (name: string, run: PartCase['run']) => void): void {
  // #region laws
  const cases = toolchainCases(toml, {
    samples: [
      {
        text: '[[call]]\ntool = "search"\nargs = { query = "tea" }',
        calls: [{ tool: 'search', args: { query: 'tea' } }],
      },
    ],
    unreadable: ['tool = "search"'],
  });
  for (const { name, run } of cases) test(name, run);
  // #endregion
}
