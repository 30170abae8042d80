/** Guards: what a run was started with is looked at before any model sees it. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blocked,
  defineAgent,
  type AgentEvent,
  type AgentOptions,
  type Guard,
} from '../../../src/index.ts';
import { createFakeClock, scriptedModel, startInMemory } from '../../../src/testing.ts';
import { START } from '../../support/runs.ts';

const TASK = 'My card is 4111111111111111.';
const PRICE = { input: 1, output: 1 };

async function play(
  guards: readonly Guard[],
  more: Partial<AgentOptions> & { due?: boolean } = {},
) {
  const { due = false, ...options } = more;
  const script = scriptedModel(['done']);
  const agent = defineAgent({ name: 'desk', model: script.model, guards, ...options });
  const events: AgentEvent[] = [];
  const run = startInMemory({
    agent,
    task: TASK,
    context: { plan: 'pro' },
    clock: createFakeClock(START),
    handoverDue: () => due,
    onEvent: (event) => events.push(event),
  });
  const step = await run.result;
  return { step, asked: script.requests.map(({ messages }) => JSON.stringify(messages)), events };
}

const cards: Guard = {
  name: 'cards',
  check: ({ text }) => ({ rewrite: text.replaceAll(/\d{16}/g, '[card]') }),
};
const pass: Guard = { name: 'pass', check: () => ({ pass: true }) };
const guarded = (events: readonly AgentEvent[]) =>
  events.filter(({ type }) => type === 'agent:guarded');

describe('guards of an agent', () => {
  test.each([false, true])('write what the model sees, once; in links: %s', async (due) => {
    let calls = 0;
    const counted: Guard = {
      name: 'counted',
      check: ({ text }) => ((calls += 1), { rewrite: `${text}!` }),
    };

    const { step, asked, events } = await play([cards, counted], { due });

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    expect(asked[0]).toContain('My card is [card].!');
    expect(asked.join()).not.toContain('4111');
    expect(calls).toBe(1);
    expect(guarded(events)).toMatchObject([
      { outcome: 'rewritten', guard: 'counted', original: TASK },
    ]);
  });

  test.each([
    { name: 'a decision', check: () => ({ block: 'No cards.' }) },
    { name: 'a throw', check: () => blocked('No cards.') },
  ])('end the run before the first request, by $name', async ({ check }) => {
    const { step, asked, events } = await play([pass, { name: 'no', check }, cards], {
      onRefusal: 'ask',
    });

    expect(step).toMatchObject({ status: 'error', reason: 'blocked', iterations: 0 });
    expect(step.message).toContain('No cards.');
    expect(asked).toEqual([]);
    expect(guarded(events)).toMatchObject([{ outcome: 'blocked', guard: 'no' }]);
  });

  test('know the run, and what they spend is counted and limited', async () => {
    const seen: unknown[] = [];
    const spends: Guard = {
      name: 'spends',
      check: ({ context, agent, iteration, text, reportModelCall }) => {
        seen.push({ context, agent, iteration, text });
        reportModelCall('desk/model', { inputTokens: 600_000, outputTokens: 1 });
        return { pass: true };
      },
    };
    const model = { id: 'desk/model', model: scriptedModel([]).model, price: PRICE };

    const { step } = await play([spends], { model, limits: { costUsd: 0.5 } });

    expect(seen).toEqual([{ context: { plan: 'pro' }, agent: 'desk', iteration: 0, text: TASK }]);
    expect(step).toMatchObject({ status: 'limit_exceeded' });
  });

  test.each([
    { name: 'throws', check: () => Promise.reject(new Error('down')), said: 'guard bad: down' },
    { name: 'decides nothing', check: () => undefined as never, said: 'it gave no decision' },
    {
      name: 'decides twice',
      check: () => ({ pass: true, block: 'x' }) as never,
      said: 'no decision',
    },
  ])('fail the run, and ask no model, if one $name', async ({ check, said }) => {
    const { step, asked } = await play([{ name: 'bad', check }]);

    expect(step).toMatchObject({ status: 'error', reason: 'validator_failed' });
    expect(step.message).toContain(said);
    expect(asked).toEqual([]);
  });

  test.each([
    { mode: 'react', reply: '<answer>x</answer>' },
    { mode: 'json', reply: '{"x": "y"}', signature: '() -> {x :string}' },
    { mode: 'text', reply: 'x' },
    { mode: 'lisp', reply: '"x"' },
  ] as const)('hold in mode $mode', async ({ reply, ...options }) => {
    const { model, requests } = scriptedModel([reply]);

    await play([cards], { model, ...options });

    const sent = JSON.stringify(requests.map(({ messages }) => messages));
    expect(sent).toContain('[card]');
    expect(sent).not.toContain('4111');
  });

  test('are asked in order, each about what the one before wrote, whatever they write', async () => {
    const decision = fc.oneof(
      fc.constant({ pass: true } as const),
      fc.record({ rewrite: fc.string({ unit: 'binary' }) }),
      fc.record({ block: fc.string() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(decision, { minLength: 1, maxLength: 4 }), async (decisions) => {
        const seen: string[] = [];
        const guards = decisions.map((one, index): Guard => ({
          name: `g${index}`,
          check: ({ text }) => (seen.push(text), one),
        }));

        const { step } = await play(guards);

        let text = TASK;
        const expected: string[] = [];
        for (const one of decisions) {
          expected.push(text);
          if ('block' in one) break;
          if ('rewrite' in one) text = one.rewrite.toWellFormed();
        }
        expect(seen).toEqual(expected);
        const isBlocked = decisions.some((one) => 'block' in one);
        expect(step.reason).toBe(isBlocked ? 'blocked' : 'answered');
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    [[{ name: 'a' }]],
    [[{ ...pass }, { ...pass }]],
    [[{ ...pass, when: 'later' }]],
    [pass],
    [[{ ...pass, name: '' }]],
  ])('are refused if they are none: %j', (guards) => {
    const { model } = scriptedModel([]);

    expect(() => defineAgent({ name: 'desk', model, guards: guards as never })).toThrow(
      'Expected `guards` to be a list of { name, check }',
    );
  });
});
