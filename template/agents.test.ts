/** Tests of the agent without a provider and without a server: `npm test`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedModel, startInMemory } from 'everloop/testing';
import { clerkWith } from './agents.ts';

test('the clerk looks into the stock before it answers', async () => {
  const script = scriptedModel([
    { toolCalls: [{ name: 'stock', args: { tea: 'assam' } }] },
    'Yes, we have 12 packets.',
  ]);
  const run = startInMemory({ agent: clerkWith(script.model), task: 'Do you have assam?' });
  const step = await run.result;
  assert.equal(step.value, 'Yes, we have 12 packets.');
  assert.equal(step.iterations, 2);
  script.assertDone();
});

test('a refund waits for a person', async () => {
  const script = scriptedModel([
    { toolCalls: [{ name: 'refund', args: { order: 'A1' } }] },
    'Your order A1 is paid back.',
  ]);
  const run = startInMemory({ agent: clerkWith(script.model), task: 'Pay A1 back, please.' });
  const waiting = await run.resultOrPending();
  assert.equal(waiting.kind, 'pending');
  assert.equal(script.requests.length, 1);
  const [item] = run.pending();
  run.decide(item?.id ?? '', { approve: true });
  const step = await run.result;
  assert.equal(step.value, 'Your order A1 is paid back.');
  script.assertDone();
});
