/** The examples of docs/migrating.md that talk, on a real server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refund, refundAgent, talk } from '../../examples/docs/migrating.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer } from '../support/test-server.ts';

let stage: Stage;
let stop: () => Promise<void>;
beforeAll(async () => {
  const server = await startTestServer();
  stop = () => server.stop();
  stage = await openStage(server);
});
afterAll(async () => {
  await stage?.close();
  await stop?.();
});

test('a thread is interrupted, resumed, and knows what was done', { timeout: 60_000 }, async () => {
  let replies = 0;
  const agent = refundAgent({
    id: 'refunds-model',
    model: async ({ messages }) => {
      replies += 1;
      return replies === 1
        ? { toolCalls: [{ name: 'refund', args: { order: '7' } }] }
        : { content: JSON.stringify(messages.map(({ parts }) => parts)) };
    },
  });
  const { everloop } = await stage.serve([agent]);
  expect(await refund(everloop, 'thread-1')).toContain('Refunded 20.');
});

test('a person talks in a thread', { timeout: 60_000 }, async () => {
  const agent = defineAgent({
    name: 'stock-talk',
    model: { id: 'talk-model', price: { input: 1, output: 1 }, model: async () => 'We have tea.' },
  });
  const { everloop } = await stage.serve([agent]);
  expect(['', 'We have tea.']).toContain(await talk(everloop, 'ada', 'one', 'Tea?'));
  const [turn] = await everloop.conversation('stock-talk', { id: 'ada.one' }).turns();
  expect(turn?.step?.value).toBe('We have tea.');
});
