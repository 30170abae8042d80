/** The pages about modes and structured output: their code is that of examples which run here. */
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  comparerWith,
  forecasterWith,
  routerWith,
  thinkerWith,
  writerWith,
} from '../../examples/docs/modes.ts';
import {
  extractorWith,
  invoice,
  plainModel,
  promptEntry,
  schemaEntry,
  toolEntry,
  triageWith,
} from '../../examples/docs/structured-output.ts';
import type { AgentModel } from '../../src/index.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startAimock } from '../support/aimock.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function blocksOf(page: string): Readonly<Record<string, string>> {
  const text = readFileSync(`${ROOT}/docs/${page}.md`, 'utf8');
  const blocks = [...text.matchAll(/^```ts (\w+)\n([^]*?)^```$/gm)];
  return Object.fromEntries(blocks.map(([, name = '', code = '']) => [name, code]));
}

function regionsOf(example: string): Readonly<Record<string, string>> {
  const text = readFileSync(`${ROOT}/examples/docs/${example}.ts`, 'utf8');
  const regions = [...text.matchAll(/^ *\/\/ #region (\w+)\n([^]*?)^ *\/\/ #endregion$/gm)];
  return Object.fromEntries(
    regions.map(([, name = '', code = '']) => [name, code.replaceAll(/^ {2}/gm, '')]),
  );
}

describe('docs', () => {
  test.each(['modes', 'structured-output'])('%s.md quotes its example', (page) => {
    expect(blocksOf(page)).toEqual(regionsOf(page));
  });
});

describe('structured output', () => {
  let mock: LLMock;
  beforeAll(async () => {
    mock = await startAimock();
  });
  afterEach(() => mock.clearFixtures());
  afterAll(() => mock.stop());

  const content = '{"sentiment": "positive", "score": 0.9}';
  const value = { sentiment: 'positive', score: 0.9 };

  async function classify(model: AgentModel): Promise<unknown> {
    const agent: AgentDefinition = triageWith(model);
    const run = startInMemory({ agent, context: withHiddenValue({ review: 'Great, but late.' }) });
    return (await run.result).value;
  }

  test('a callback with the schema', async () => {
    mock.on({ predicate: (sent) => sent.response_format?.type === 'json_schema' }, { content });

    expect(await classify(schemaEntry(mock.url))).toEqual(value);
  });

  test('a callback with a forced call', async () => {
    mock.on(
      { predicate: (sent) => sent.tools?.[0]?.function.name === 'respond' },
      { toolCalls: [{ name: 'respond', arguments: content }] },
    );

    expect(await classify(toolEntry(mock.url))).toEqual(value);
  });

  test('a callback with the prompt', async () => {
    mock.on({ predicate: (sent) => sent.response_format?.type === 'json_object' }, { content });

    expect(await classify(promptEntry(mock.url))).toEqual(value);
  });

  test('a callback that ignores the schema, and is repaired', async () => {
    mock.on({ turnIndex: 0 }, { content: 'It is positive.' });
    mock.on({ turnIndex: 1 }, { content: `Sorry: ${content}` });

    expect(await classify(plainModel(mock.url))).toEqual(value);
  });

  test('a callback whose schema the service refuses is not asked for ever', async () => {
    mock.on(
      { predicate: (sent) => sent.response_format !== undefined },
      { error: { message: 'Unknown parameter.' }, status: 400 },
    );

    const agent: AgentDefinition = triageWith(schemaEntry(mock.url));
    const run = startInMemory({ agent, context: withHiddenValue({ review: 'x' }) });

    // This callback asks in one way only, so the run ends when no way is left.
    expect((await run.result).reason).toBe('model_request_refused');
  });

  test('an extractor is checked by a schema that was parsed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everloop-schema-'));
    const file = join(folder, 'order.json');
    const properties = { part: { type: 'string' }, count: { type: 'integer' } };
    await writeFile(file, JSON.stringify({ type: 'object', properties, required: ['count'] }));
    const script = scriptedModel(['{"part": "bolt"}', '{"part": "bolt", "count": 2}']);
    const agent = extractorWith(script.model, file);
    await rm(folder, { recursive: true });

    const step = await startInMemory({ agent, task: 'Two bolts.' }).result;

    expect(step).toMatchObject({ value: { part: 'bolt', count: 2 }, usage: { modelCalls: 2 } });
  });

  test('an invoice is checked by its schema and by its validator', async () => {
    const step = await startInMemory({ agent: invoice, task: 'Invoice A-7: Tea 4.50' }).result;

    expect(step).toMatchObject({
      value: { number: 'A-7', lines: [{ text: 'Tea', amount: 4.5 }], total: 4.5 },
      iterations: 2,
    });
    expect(step.stats.counters['agent:answer_rejected_by:adds_up']).toBe(1);
  });
});

describe('modes', () => {
  test('a decision, then prose for it', async () => {
    const decided = scriptedModel(['{"sentiment": "annoyed", "urgent": true}']);
    const written = scriptedModel(['We are on it.']);

    const routed = await startInMemory({
      agent: routerWith(decided.model),
      context: { message: 'Still broken!' },
    }).result;
    const reply = await startInMemory({
      agent: writerWith(written.model),
      task: 'Be brief.',
      context: routed,
    }).result;

    expect([routed.value, reply.value]).toEqual([
      { sentiment: 'annoyed', urgent: true },
      'We are on it.',
    ]);
    expect(written.requests[0]?.messages.at(-1)?.parts).toEqual([
      {
        type: 'text',
        text: 'Answer a customer who is annoyed. Be brief.\n# Context\n<data name="urgent">true</data>',
      },
    ]);
  });

  test('steps with native calls, and a checked value', async () => {
    const script = scriptedModel([
      { toolCalls: [{ name: 'weather', args: { city: 'Rome' } }] },
      'Rome: {"warmest": "Rome", "celsius": 18}',
    ]);

    const step = await startInMemory({ agent: forecasterWith(script.model), task: 'Rome or Oslo?' })
      .result;

    expect(step.value).toEqual({ warmest: 'Rome', celsius: 18 });
  });

  test('a program', async () => {
    const script = scriptedModel([
      '```clojure\n(return {:warmest (:city (max-by :celsius (pmap #(tool/weather {:city %}) data/cities)))})\n```',
    ]);

    const step = await startInMemory({
      agent: comparerWith(script.model),
      context: { cities: ['Oslo', 'Rome'] },
    }).result;

    expect([step.value, step.usage.toolCalls, step.iterations]).toEqual([
      { warmest: 'Rome' },
      2,
      1,
    ]);
  });

  test('steps in text', async () => {
    const script = scriptedModel([
      '<action>\n- tool: weather\n  args:\n    city: Oslo\n</action>',
      '<answer>-4</answer>',
    ]);

    const step = await startInMemory({ agent: thinkerWith(script.model), task: 'Oslo?' }).result;

    expect([step.value, step.usage.toolCalls]).toEqual(['-4', 1]);
  });
});
