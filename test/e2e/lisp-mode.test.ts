/** The mode `lisp` on a real server, with a model over HTTP. */
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const price = defineTool({
  name: 'price',
  description: 'Says what a thing costs.',
  parameters: z.object({ thing: z.string(), key: z.string() }),
  effect: 'read',
  local: true,
  execute: ({ thing, key }) => ({ thing, cents: thing.length * 100, isKnown: key !== '' }),
});

let mock: LLMock;
let stage: Stage;
let served: Served;
beforeAll(async () => {
  mock = await startAimock();
  stage = await openStage(inject('temporal'));
  const model = { id: 'mock/model', model: modelAt(mock.url, 'openai-chat') };
  const shared = { mode: 'lisp', model, tools: [price], askUser: true } as const;
  served = await stage.serve([
    defineAgent({
      ...shared,
      name: 'buyer',
      signature: '(things [:string], _key :string) -> {cents :int, chosen [:string]}',
      prompt: 'Buy some of {{things}} with {{_key}}.',
    }),
    defineAgent({ ...shared, name: 'caller', transport: 'tool_call' }),
  ]);
});
afterEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});
afterAll(async () => {
  await stage.close();
  await mock.stop();
});

const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;

describe('lisp on a server [sub 10] [row 29]', () => {
  it('looks, asks people side by side in the middle of a program, and returns [sub 17]', async () => {
    mock.on(
      { predicate: (sent) => sent.messages.length === 2 },
      {
        content: program(
          '(def found (pmap #(tool/price {:thing % :key data/_key}) data/things))\n(println data/_key (map :cents found))',
        ),
      },
    );
    mock.on(
      { predicate: (sent) => sent.messages.length > 2 },
      {
        content: program(
          [
            '(defn ask-for [x] (ask (str "Buy " (:thing x) "?") {:options ["yes" "no"]}))',
            '(def answers (pmap (fn [x] (first (map ask-for [x]))) found))',
            '(def bought (keep (fn [[x a]] (when (= a "yes") x)) (zip found answers)))',
            '(return {:cents (sum-by :cents bought) :chosen (map :thing bought)})',
          ].join('\n'),
        ),
      },
    );

    const run = await served.everloop.start('buyer', {
      context: { things: ['tea', 'milk'], _key: 'SENTINEL-42' },
    });
    const first = await run.resultOrPending();
    if (first.kind !== 'pending') throw new Error('Expected a question.');
    for (const item of await run.pending()) {
      const isTea = item.kind === 'question' && item.question === 'Buy tea?';
      await run.answer(item.id, isTea ? 'yes' : 'no');
    }

    expect(await run.result()).toMatchObject({
      mode: 'lisp',
      status: 'success',
      value: { cents: 300, chosen: ['tea'] },
      iterations: 2,
      usage: { modelCalls: 2, toolCalls: 2 },
      stats: { counters: { 'agent:questions': 2, 'agent:code_executions': 2 } },
    });
    expect(mock.getRequests()).toHaveLength(2);
    expect(JSON.stringify(mock.getRequests())).not.toContain('SENTINEL');
    expect(JSON.stringify(mock.getRequests())).toContain('<hidden> [300 400]');
  });

  it('gives each native call its result [sub 9]', async () => {
    const call = (
      source: string,
    ): { readonly toolCalls: { name: string; arguments: string }[] } => ({
      toolCalls: [{ name: 'lisp_eval', arguments: JSON.stringify({ program: source }) }],
    });
    mock.on(
      { predicate: (sent) => sent.messages.length === 2 },
      { toolCalls: [...call('1').toolCalls, ...call('2').toolCalls] },
    );
    mock.on(
      { predicate: (sent) => sent.messages.length > 2 && sent.messages.length < 8 },
      call('(def n (:cents (tool/price {:thing "tea" :key "k"})))'),
    );
    mock.on({ predicate: (sent) => sent.messages.length >= 8 }, { content: 'It costs 3.' });

    const step = await (await served.everloop.start('caller', { task: 'Tea?' })).result();

    expect(step).toMatchObject({
      status: 'success',
      value: 'It costs 3.',
      iterations: 3,
      usage: { toolCalls: 1 },
    });
    const last = mock.getRequests().at(-1)?.body as unknown as {
      messages: { role: string; tool_call_id?: string }[];
    };
    expect(last.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
      'assistant',
      'tool',
    ]);
  });
});
