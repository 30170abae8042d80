/** docs/asking-people.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import {
  allThatWaits,
  approveAlways,
  builder,
  cashier,
  concierge,
  serveOnce,
  teller,
  testedConcierge,
  waiter,
} from '../../examples/docs/asking-people.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ModelReply } from '../../src/core/contract/model.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/asking-people.md quotes its example', () => {
  expect(blocksOf('asking-people').size).toBeGreaterThan(0);
  expect(blocksOf('asking-people')).toEqual(regionsOf('asking-people'));
});

/** Runs `agent` in memory, served by the example until it ends. */
async function served(agent: AgentDefinition): Promise<{ said: readonly string[]; step: Step }> {
  const run = startInMemory({ agent, task: 'Go' });
  const said: string[] = [];
  const handle: RunHandle = fakeRun('r', {
    resultOrPending: async () => ({ run: handle, ...(await run.resultOrPending()) }),
    answer: async (id, value) => (run.answer(id, value), { id }),
    decide: async (id, decision) => (run.decide(id, decision), { id }),
  });
  while (said.at(-1) !== '"done"') await serveOnce(handle, (text) => said.push(text));
  return { said, step: await run.result };
}

test('a question with options', async () => {
  const args = { question: 'Where?', options: ['the bar', 'The terrace'] };
  const ask = { toolCalls: [{ name: 'ask_user', args }] };

  const { said, step } = await served(concierge(scriptedModel([ask, 'done']).model));

  expect(said).toEqual(['Where? the bar or The terrace', '"done"']);
  expect(step.stats.counters).toMatchObject({ 'agent:questions': 1 });
});

test('an approval of large payments alone', async () => {
  const pay = (amount: number): ModelReply => ({
    content: 'It is due.',
    toolCalls: [{ name: 'pay', args: { invoice: 'I7', amount } }],
  });
  const paid: number[] = [];
  const { model } = scriptedModel([pay(50), pay(500), 'done']);

  const { said, step } = await served(cashier(model, (amount) => `paid ${paid.push(amount)}`));

  expect(said).toEqual(['May I pay {"invoice":"I7","amount":500}? It is due.', '"done"']);
  expect(paid).toEqual([50, 500]);
  expect(step.stats.counters).toMatchObject({ 'agent:approvals_requested': 1 });
});

test('a tool that asks while it works', async () => {
  const reserved: string[] = [];
  const tables = {
    free: async () => ['The bar', 'the terrace'],
    reserve: async (place: string) => `table ${reserved.push(place)}`,
  };
  const book = { toolCalls: [{ name: 'book', args: { guests: 4 } }] };

  const { said } = await served(waiter(scriptedModel([book, 'done']).model, tables));

  expect(said).toEqual(['Where shall 4 sit? The bar or the terrace', '"done"']);
  expect(reserved).toEqual(['the terrace']);
});

test.each([
  { amount: 50, answers: [{ account: 'giro' }], sent: [[50, 'giro']] },
  { amount: 5_000, answers: [{ account: 'savings' }, 'true'], sent: [[5_000, 'savings']] },
  { amount: 5_000, answers: [{ account: 'giro' }, 'false'], sent: [] },
])(
  'a tool that asks before it begins, for $amount: $answers',
  async ({ amount, answers, sent }) => {
    const done: unknown[] = [];
    const send = { toolCalls: [{ name: 'send', args: { amount } }] };
    const { model } = scriptedModel([send, 'done']);
    const agent = teller(model, (...one) => `sent ${done.push(one)}`);
    const run = startInMemory({ agent, task: 'Go' });
    for (const [at, answer] of answers.entries()) {
      await run.resultOrPending();
      run.answer(`q${at + 1}`, answer);
    }
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(done).toEqual(sent);
  },
);

test('an approval that holds until it is revoked', async () => {
  const pay = { toolCalls: [{ name: 'pay', args: { invoice: 'I7', amount: 500 } }] };
  const { model } = scriptedModel([pay, 'done']);
  const run = startInMemory({ agent: cashier(model, () => 'paid'), task: 'Go' });
  await run.resultOrPending();
  const approvals = await approveAlways(
    fakeRun('r', {
      decide: async (id, decision) => {
        run.decide(id, decision);
        await run.result;
        return { id };
      },
      status: async () => ({ approvals: run.state.standing }) as never,
      revoke: async (id) => run.revoke(id),
    }),
  );

  expect(approvals).toMatchObject([{ id: '1.1', tool: 'pay' }]);
});

test('work that ends outside', async () => {
  const started: string[] = [];
  const build = { toolCalls: [{ name: 'build', args: { commit: 'abc' } }] };
  const ci = {
    start: async (callback: string) => {
      started.push(callback);
      return { url: 'https://ci/7' };
    },
  };

  const { said } = await served(builder(scriptedModel([build, 'done']).model, ci));

  expect(said).toEqual(['"done"']);
  expect(started).toEqual(['1.1']);
});

test('the inbox of all runs', async () => {
  const base = { agent: 'cashier', path: 'cashier', since: 0 };
  const item = { ...base, id: '1.1', kind: 'approval', tool: 'pay', args: {} } as const;
  const inbox = async () => ({
    items: [{ run: 'r1', agent: 'cashier', task: 'Pay', item }],
    silent: ['r2'],
    more: 0,
  });

  expect(await allThatWaits({ inbox })).toEqual(['cashier r1 approval 1.1', '? r2']);
});

test('an answer in a test', async () => {
  expect(await testedConcierge()).toBe('Booked outside.');
});
