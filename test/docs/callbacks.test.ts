/** docs/callbacks.md: its code is that of examples which run here. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { buyer, receiver, startWith } from '../../examples/docs/callbacks.ts';
import { deliver } from '../../src/callbacks/deliver.ts';
import type { Everloop, StartOptions } from '../../src/client/everloop-client.ts';
import type { CallbackMessage } from '../../src/core/contract/callback.ts';
import { loadAgent } from '../../src/registry/load-agent.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { CALLBACK_SECRET } from '../support/callback-receiver.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';

afterEach(() => vi.restoreAllMocks());

test('docs/callbacks.md quotes its example', () => {
  expect(blocksOf('callbacks').size).toBeGreaterThan(0);
  expect(blocksOf('callbacks')).toEqual(regionsOf('callbacks'));
});

test('a definition with a callback', () => {
  const agent = buyer({ id: 'm', model: async () => 'done' });
  const registry = createRegistry({ agents: [agent] });
  const loaded = loadAgent(registry, { v: 1, agent: 'buyer', task: { text: 'Buy' } });

  expect(loaded.kind === 'loaded' && loaded.agent.spec.onEvent).toEqual([
    {
      url: 'https://hooks.example.com/everloop',
      events: ['question.asked', 'run.ended'],
      content: true,
    },
  ]);
});

test('a start with a callback', async () => {
  const started: StartOptions[] = [];
  const everloop = {
    start: async (_agent: string, options: StartOptions) => {
      started.push(options);
      return fakeRun('r', {});
    },
  } as unknown as Everloop;
  await startWith(everloop, 'https://example.com/hook');

  expect(started).toMatchObject([{ onEvent: { url: 'https://example.com/hook' } }]);
});

test('a receiver that checks signatures, answers once, and notes the end', async () => {
  const answers: unknown[] = [];
  const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const attach = (id: string): ReturnType<Everloop['attach']> =>
    fakeRun(id, { answer: async (item, text) => (answers.push([id, item, text]), { id: item }) });
  const server = receiver({ attach }, CALLBACK_SECRET, async (question) => `${question} Blue.`);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const send = (
    body: CallbackMessage['body'],
    secret = CALLBACK_SECRET,
  ): ReturnType<typeof deliver> =>
    deliver(
      { id: `msg_${body.type}`, url, body },
      { secrets: [secret] },
      { now: Date.now(), signal: new AbortController().signal },
    );
  const common = { run: 'r1', root: 'r1', agent: 'buyer', iteration: 1 };
  const timestamp = new Date().toISOString();
  const question: CallbackMessage['body'] = {
    type: 'question.asked',
    timestamp,
    data: { ...common, id: 'q1', question: 'Which?' },
  };
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

  expect(await send(question, other)).toMatchObject({ kind: 'failed' });
  expect(await send(question)).toEqual({ kind: 'delivered' });
  expect(await send(question)).toEqual({ kind: 'delivered' });
  await send({ type: 'run.ended', timestamp, data: { ...common, status: 'success' } });
  await eventually('an answer', () => answers.length > 0);
  server.close();

  expect(answers).toEqual([['r1', 'q1', 'Which? Blue.']]);
  expect(logged).toHaveBeenCalledWith('r1', 'success');
});
