/** docs/programs.md: its code is that of examples, and its programs run here. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  accountantWith,
  agents,
  callerWith,
  clerkWith,
  helperWith,
} from '../../examples/docs/programs.ts';
import { textOf } from '../../src/core/base/message.ts';
import { LIMIT_RANGES } from '../../src/lisp.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

const PAGE = readFileSync(
  fileURLToPath(new URL('../../docs/programs.md', import.meta.url)),
  'utf8',
);
const context = { customers: ['C1', 'C2'], minimum: 5_000 };

/** The program `name` of the page, as a model writes it. */
function programOf(name: string): string {
  const found = new RegExp(`^\`\`\`clojure ${name}\n([^]*?)^\`\`\`$`, 'm').exec(PAGE)?.[1];
  if (found === undefined) throw new Error(`Expected a program ${name} in docs/programs.md.`);
  return `\`\`\`clojure\n${found}\`\`\``;
}

test('docs/programs.md quotes its example', () => {
  expect(blocksOf('programs').size).toBeGreaterThan(0);
  expect(blocksOf('programs')).toEqual(regionsOf('programs'));
});

describe('docs/programs.md', () => {
  test('a run: look, then answer', async () => {
    const script = scriptedModel([programOf('look'), programOf('answer')]);

    const run = startInMemory({ agent: accountantWith(script.model), context });

    expect((await run.result).value).toEqual({ cents: 12_000, orders: 1 });
    const told = textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] });
    expect(/^```text\n([^]*?)\n```$/m.exec(PAGE)?.[1]).toBe(told);
    expect(textOf(script.requests[0]?.messages[1] ?? { role: 'user', parts: [] })).toContain(
      'How much did the customers ~{data/customers} spend on orders from ~{data/minimum} cents up?',
    );
  });

  test('the same from the command line, with the model of the example', async () => {
    const [accountant] = agents;
    if (accountant === undefined) throw new Error('Expected an agent.');

    const step = await startInMemory({ agent: accountant, context }).result;

    expect([step.value, step.iterations]).toEqual([{ cents: 12_000, orders: 1 }, 2]);
  });

  test('attempt', async () => {
    const { model } = scriptedModel([programOf('attempt')]);

    const step = await startInMemory({ agent: clerkWith(model), task: 'Look.' }).result;

    expect(step.value).toEqual({
      orders: 3,
      missing: ['`orders` failed: no customer C9'],
    });
  });

  test('the journal, and a person in the middle of a program', async () => {
    const { model } = scriptedModel([programOf('journal')]);
    const run = startInMemory({ agent: clerkWith(model), task: 'Pay back.' });

    const waiting = await run.resultOrPending();
    if (waiting.kind === 'pending') run.answer(waiting.pending[0]?.id ?? '', 'no');

    const step = await run.result;
    expect([step.value, step.usage.toolCalls]).toEqual([{ refunded: ['O2'] }, 1]);
    expect(Object.keys((step.memory as { journal: object }).journal)).toHaveLength(1);
  });

  test('a program beside calls', async () => {
    const { model } = scriptedModel([
      '<program>(sum-by :cents (tool/orders {:customer-id "C1"}))</program>',
      '<answer>165 euros.</answer>',
    ]);

    const step = await startInMemory({ agent: helperWith(model), task: 'How much?' }).result;

    expect([step.value, step.usage.toolCalls]).toEqual(['165 euros.', 1]);
  });

  test('native calls', async () => {
    const args = { program: '(return (count (tool/orders {:customer-id "C1"})))' };
    const { model } = scriptedModel([{ toolCalls: [{ name: 'lisp_eval', args }] }]);

    const step = await startInMemory({ agent: callerWith(model), task: 'How many?' }).result;

    expect(step.value).toBe(2);
  });

  test('the table of limits', () => {
    const rows = [...PAGE.matchAll(/^\| `(\w+)` +\| ([\d,]+) +\| ([\d,]+) +\|/gm)].map(
      ([, name = '', standard = '', highest = '']) => [
        name,
        {
          standard: Number(standard.replaceAll(',', '')),
          highest: Number(highest.replaceAll(',', '')),
        },
      ],
    );

    expect(rows.length).toBeGreaterThan(5);
    expect(LIMIT_RANGES).toMatchObject(Object.fromEntries(rows));
  });
});
