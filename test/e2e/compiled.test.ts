/** Agents that are compiled once and run without a model, on a real server. */
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { llmTool } from '../../src/define/tool/define-llm-tool.ts';
import type { CompiledAgent } from '../../src/core/contract/input.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { eventually } from '../support/eventually.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

let mock: LLMock;
let stage: Stage;
let served: Served;
beforeAll(async () => {
  mock = await startAimock();
  stage = await openStage(inject('temporal'));
  const model = { id: 'mock/model', model: modelAt(mock.url, 'openai-chat') };
  const price = defineTool({
    name: 'price',
    description: 'Says what a thing costs.',
    parameters: z.object({ thing: z.string() }),
    execute: ({ thing }) => thing.length,
  });
  const name = llmTool({
    name: 'name_it',
    prompt: 'Name {{cents}} cents.',
    signature: '(cents :int) -> :string',
  });
  served = await stage.serve([
    defineAgent({
      name: 'report',
      mode: 'lisp',
      model,
      tools: [price, name],
      askUser: true,
      prompt: 'Sum up {{things}}.',
      signature: '(things [:string]) -> {total :int, as :string, by :string}',
    }),
    defineAgent({ name: 'triage', mode: 'json', model, signature: ':int' }),
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

const usage = { prompt_tokens: 20, completion_tokens: 7 };
const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;
const COST = '(defn cost [thing] (tool/price {:thing thing}))';
const SUM = `(let [total (sum (pmap cost data/things))]
  (return {:total total :as (tool/name-it {:cents total}) :by (ask "Who asks?")}))`;

/** Compiles `report` once, answering its question. */
async function compile(): Promise<CompiledAgent> {
  mock.on(
    {
      predicate: ({ messages }) =>
        messages.some((it) => JSON.stringify(it.content).includes('Turn 1 of 5')),
    },
    { content: program(SUM), usage },
  );
  mock.onMessage(/Sum up/, { content: program(COST), usage });
  mock.onMessage(/Name \d+ cents/, { content: 'few', usage });
  const compiling = served.everloop.compileAgent('report', {
    id: `compiling-${Date.now()}`,
    context: withHiddenValue({ things: ['tea', 'milk'] }),
  });
  const item = await eventually('a question', async () => {
    const { items } = await served.everloop.inbox();
    return items.find(({ agent }) => agent === 'report');
  });
  await served.everloop.attach(item.run).answer(item.item.id, 'Ann');
  return compiling;
}

describe('a compiled agent on a server [sub 16]', () => {
  it('runs again without its model: tools are activities, LLM tools ask, questions wait', async () => {
    const compiled = await compile();
    expect(compiled).toMatchObject({
      v: 1,
      agent: 'report',
      source: SUM,
      definitions: [{ name: 'cost', source: COST }],
      tools: ['name_it', 'ask_user', 'price'].toSorted(
        (a, b) => compiled.tools.indexOf(a) - compiled.tools.indexOf(b),
      ),
      model: 'mock/model',
      usage: { modelCalls: 3, toolCalls: 3 },
    });
    mock.clearRequests();

    const run = await served.everloop.runCompiled(JSON.parse(JSON.stringify(compiled)), {
      context: withHiddenValue({ things: ['salt'] }),
    });
    const seen = await run.resultOrPending();
    if (seen.kind !== 'pending') throw new Error(`Expected a question, got ${seen.step.reason}.`);
    await run.answer(seen.pending[0]?.id ?? '', 'Bob');
    const step = await run.result();

    expect(step).toMatchObject({
      mode: 'lisp',
      status: 'success',
      value: { total: 4, as: 'few', by: 'Bob' },
      iterations: 1,
      usage: { modelCalls: 1, toolCalls: 2 },
    });
    expect(mock.getRequests()).toHaveLength(1);
    await stage.replay(run);

    const changed = await served.everloop.runCompiled({ ...compiled, source: '(return 1)' });
    expect(await changed.result()).toMatchObject({
      status: 'error',
      reason: 'invalid_input',
      message: expect.stringContaining('it was changed. Compile it again.'),
    });
  });

  it('an agent of another mode is refused without a model call', async () => {
    await expect(served.everloop.compileAgent('triage', { task: 'x' })).rejects.toMatchObject({
      code: 'run_failed',
      message: expect.stringContaining('only mode `lisp` compiles, `triage` is `json`.'),
    });
    await expect(served.everloop.runCompiled({} as CompiledAgent)).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Expected what `compileAgent` returns, got {}. Compile the agent first.',
    });
    expect(mock.getRequests()).toEqual([]);
  });
});
