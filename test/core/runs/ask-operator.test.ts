import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineAgent, defineTool, blocked, type AgentDefinition } from '../../../src/index.ts';
import {
  createFakeClock,
  scriptedModel,
  startInMemory,
  type MemoryRun,
  type ScriptedReply,
} from '../../../src/testing.ts';
import { eventually } from '../../support/eventually.ts';

const REFUSED = Object.assign(new Error('Your credit balance is too low'), { statusCode: 402 });

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  effect: 'read',
  execute: () => 'seen',
});

const LOOK: ScriptedReply = { toolCalls: [{ name: 'look', args: {} }] };

function clerk(replies: readonly ScriptedReply[], more: object = {}): AgentDefinition {
  const { model } = scriptedModel(replies);
  return defineAgent({ name: 'clerk', model, tools: [look], onRefusal: 'ask', ...more });
}

/** Answers question `number`, from 1. */
async function answered(run: MemoryRun, number: number, value: string): Promise<void> {
  const isAsked = (): boolean => run.pending().some(({ id }) => id === `q${number}`);
  await eventually('a question', isAsked);
  run.answer(`q${number}`, value);
}

describe('a run whose models all refuse', () => {
  test('waits for its operator and goes on', async () => {
    const run = startInMemory({ agent: clerk([REFUSED, LOOK, REFUSED, 'done']), task: 'x' });

    await eventually('a question', () => run.pending().length === 1);
    expect(run.pending()[0]).toMatchObject({
      kind: 'question',
      question: expect.stringContaining('Your credit balance is too low'),
      options: ['Try again', 'End the run'],
    });
    await answered(run, 1, 'try again');
    await answered(run, 2, '1');

    expect(await run.result).toMatchObject({ status: 'success', value: 'done', iterations: 2 });
  });

  test('ends with the words of its provider, if the person says so', async () => {
    const run = startInMemory({ agent: clerk([REFUSED]), task: 'x', handoverDue: () => true });

    await answered(run, 1, 'End the run');

    const step = await run.result;
    expect(step).toMatchObject({ status: 'error', reason: 'model_auth' });
    expect(step.message).toContain('Your credit balance is too low');
  });

  test('asks the model that a person names first, from then on', async () => {
    const spare = scriptedModel([LOOK, 'done']);
    const run = startInMemory({
      agent: clerk([REFUSED]),
      models: [{ id: 'spare', model: spare.model }],
      task: 'x',
    });

    await answered(run, 1, 'spare');

    expect(await run.result).toMatchObject({ status: 'success', value: 'done' });
    spare.assertDone();
  });

  test.each([
    {
      name: 'no id',
      said: `x ${'y'.repeat(100_000)}`,
      limits: {},
      words: 'the id of a model entry',
    },
    { name: 'no id either', said: '$self:agent:iterations', limits: {}, words: 'of a model entry' },
    {
      name: 'a model whose price nobody knows',
      said: 'spare',
      limits: { costUsd: 1 },
      words: 'a model whose price this run knows',
    },
  ])('asks again when a person names $name', async ({ said, limits, words }) => {
    const { model } = scriptedModel([REFUSED, 'done']);
    const entry = { id: 'main', model, price: { input: 1, output: 1 } };
    const events: string[] = [];
    const run = startInMemory({
      agent: clerk([], { model: entry, limits }),
      models: [{ id: 'spare', model: scriptedModel([]).model }],
      task: 'x',
      onEvent: ({ type }) => events.push(type),
    });

    await answered(run, 1, said);
    await eventually('another question', () => run.pending().some(({ id }) => id === 'q2'));
    const [item] = run.pending();
    expect(item).toMatchObject({ question: expect.stringContaining(words) });
    expect(JSON.stringify(item).length).toBeLessThan(2_000);
    await answered(run, 2, 'Try again');

    expect(await run.result).toMatchObject({ status: 'success', value: 'done' });
    expect(events).not.toContain('agent:model_changed');
  });

  test('ends by its own limit on time', async () => {
    const clock = createFakeClock();
    const agent = clerk([REFUSED], { limits: { wallClockMs: 60_000 } });
    const run = startInMemory({ agent, task: 'x', clock });

    await eventually('a question', () => run.pending().length === 1);
    clock.advance(61_000);

    expect(await run.result).toMatchObject({ status: 'limit_exceeded' });
    expect(run.pending()).toEqual([]);
  });

  test('is not asked about what the agent itself blocks, nor unless the agent wants it', async () => {
    const blocks = clerk([], { modelMiddleware: [() => Promise.reject(blocked('no'))] });
    const plain = clerk([REFUSED], { onRefusal: 'fail' });

    expect(await startInMemory({ agent: blocks, task: 'x' }).result).toMatchObject({
      reason: 'blocked',
    });
    expect(await startInMemory({ agent: plain, task: 'x' }).result).toMatchObject({
      reason: 'model_auth',
    });
  });

  test('goes on in any link, whenever and however often it is refused', async () => {
    const turn = fc.record({ refusals: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { maxLength: 4 }),
        fc.infiniteStream(fc.boolean()),
        async (turns, due) => {
          const replies = turns.flatMap(({ refusals }) => [
            ...Array.from({ length: refusals }, () => REFUSED),
            LOOK,
          ]);
          const script = scriptedModel([...replies, 'done']);
          const agent = clerk([], { model: script.model });
          const handoverDue = (): boolean => due.next().value === true;
          const run = startInMemory({ agent, task: 'x', handoverDue });
          const refusals = turns.reduce((sum, one) => sum + one.refusals, 0);
          for (let count = 1; count <= refusals; count++) await answered(run, count, 'Try again');

          expect(await run.result).toMatchObject({
            status: 'success',
            iterations: turns.length + 1,
            stats: { counters: refusals === 0 ? {} : { 'agent:questions': refusals } },
          });
          script.assertDone();
        },
      ),
      { numRuns: 40 },
    );
  });
});
