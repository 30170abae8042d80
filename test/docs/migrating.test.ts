/** docs/migrating.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { refundAgent, stockAgent } from '../../examples/docs/migrating.ts';
import { unwrap } from '../../src/core/run/unwrap.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/migrating.md quotes its examples', () => {
  expect(blocksOf('migrating').size).toBe(3);
  expect(blocksOf('migrating')).toEqual(regionsOf('migrating'));
});

test('the agent of the AI SDK looks the article up, and answers as its signature says', async () => {
  const script = scriptedModel([
    { toolCalls: [{ name: 'count', args: { article: 'tea' } }] },
    '{"answer": "Yes, three.", "inStock": true}',
  ]);
  const question = 'Do we have tea?';
  const run = startInMemory({
    agent: stockAgent(script.model),
    task: question,
    context: { question },
  });
  expect(unwrap(await run.result)).toEqual({ answer: 'Yes, three.', inStock: true });
  script.assertDone();
});

test('the agent of LangGraph asks in its tool, and goes on with the answer', async () => {
  const script = scriptedModel([
    { toolCalls: [{ name: 'refund', args: { order: '7' } }] },
    ({ messages }) => JSON.stringify(messages.at(-1)?.parts),
  ]);
  const run = startInMemory({ agent: refundAgent(script.model), task: 'Refund order 7.' });
  const waiting = await run.resultOrPending();
  expect(waiting).toMatchObject({ kind: 'pending', pending: [{ kind: 'question' }] });
  if (waiting.kind === 'pending') run.answer(waiting.pending[0]?.id ?? '', 20);
  expect(JSON.stringify((await run.result).value)).toContain('Refunded 20.');
});
