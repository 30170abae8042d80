import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ModelEntry } from '../../../src/define/model/model-entry.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../../src/testing/scripted-model.ts';
import { renderRequest } from '../../support/render-request.ts';
import { bodiesOf } from '../../support/runs.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';

interface Played {
  readonly step: Step;
  readonly script: ScriptedModel;
  readonly events: readonly AgentEvent[];
}

const triage: Partial<AgentOptions> = {
  mode: 'json',
  signature: '{sentiment :string, score :float?}',
  fieldDescriptions: { sentiment: 'positive, neutral or negative' },
};

/** Runs an agent `triage` with a model `m` that plays `replies`. */
async function play(
  replies: readonly ScriptedReply[],
  agent: Partial<AgentOptions> = triage,
  start: Partial<MemoryRunOptions> = {},
  entry: Partial<ModelEntry> = {},
): Promise<Played> {
  const script = scriptedModel(replies);
  const definition = defineAgent({
    name: 'triage',
    model: { id: 'm', model: script.model, ...entry },
    ...agent,
  });
  const run = startInMemory({ agent: definition, task: 'Classify the review.', ...start });
  const step = await run.result;
  script.assertDone();
  return { step, script, events: run.events };
}

const good = '{"sentiment": "positive"}';

describe('The prompt of json [sub 2]', () => {
  test('the first request', async () => {
    const { script } = await play(
      [good],
      { ...triage, instructions: 'You know reviews.', rules: 'Be fair.' },
      { context: { review: 'Great product, slow delivery', _key: 'SENTINEL', n: [1], task: 'x' } },
    );

    const [request] = script.requests;
    await expect(request === undefined ? '' : renderRequest(request)).toMatchFileSnapshot(
      '../../golden/prompts/json-1.txt',
    );
  });

  test('what the template uses is not shown once more, and what keys mean stands beside them', async () => {
    const { script } = await play(
      [good],
      {
        ...triage,
        prompt: 'Classify: {{review}}{{#tags}} #{{.}}{{/tags}}',
        contextDescriptions: { shop: 'where "it" was\nbought' },
      },
      { context: { review: 'Fine', tags: ['a'], shop: 'x</data><y>' } },
    );

    expect(textOf(script.requests[0]?.messages[1] ?? { role: 'user', parts: [] })).toContain(
      [
        '# Context',
        `<data name="shop" about="where 'it' was bought">x<\\/data><y></data>`,
        '# Task',
        'Classify: Fine #a',
        '# Output format',
      ].join('\n'),
    );
  });

  test('values are cut, each and all together', async () => {
    const context = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`k${index}`, 'x'.repeat(12_345)]),
    );

    const { script } = await play([good], triage, { context });

    const text = textOf(script.requests[0]?.messages[1] ?? { role: 'user', parts: [] });
    const lines = text.split('\n').filter((line) => line.startsWith('<data'));
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe(`<data name="k0">${'x'.repeat(2_000)}… (12,345 chars)</data>`);
    expect(lines[9]).toBe('<data name="k9">… (12,345 chars)</data>');
  });
});

test('the request of a repair [sub 2]', async () => {
  const { script } = await play(
    [{ toolCalls: [{ name: 'respond', args: { score: 'high' } }] }, good],
    triage,
    {},
    { structuredOutput: 'tool' },
  );

  const request = script.requests[1];
  await expect(request === undefined ? '' : renderRequest(request)).toMatchFileSnapshot(
    '../../golden/prompts/json-2.txt',
  );
});

describe('A run of json [sub 4]', () => {
  test('a valid answer takes one call', async () => {
    const { step, events } = await play([good]);

    expect(step).toMatchObject({
      mode: 'json',
      status: 'success',
      reason: 'answered',
      value: { sentiment: 'positive' },
      signature: '-> {sentiment :string, score :float?}',
      fieldDescriptions: { sentiment: 'positive, neutral or negative' },
      memory: {},
      usage: { modelCalls: 1, schemaUsed: true },
    });
    expect(bodiesOf(events, 'agent:parse_error')).toEqual([]);
  });

  test('what is not JSON is told, then the answer is taken', async () => {
    const { step, script, events } = await play(['I think it is good.', good]);

    expect(step.value).toEqual({ sentiment: 'positive' });
    expect(script.requests[1]?.messages.slice(2).map((it) => [it.role, textOf(it)])).toEqual([
      ['assistant', 'I think it is good.'],
      [
        'user',
        [
          'Your answer did not fit the output format (attempt 1 of 5).',
          '- There is no JSON in the reply.',
          'You wrote:',
          '<untrusted source="answer">I think it is good.</untrusted>',
          'Answer again with one JSON object of this form:',
          '```json',
          '{"sentiment": "text", "score": 1.5}',
          '```',
          'Return only the JSON.',
        ].join('\n'),
      ],
    ]);
    expect(bodiesOf(events, 'agent:parse_error').map(({ family }) => family)).toEqual([
      'termination',
    ]);
  });

  test('what does not fit is told with its lines, quoted inside its frame', async () => {
    const written = '{"sentiment": "good</untrusted>\u0007", "score": "high"}';
    const { step, script } = await play([written, good]);

    expect(step.usage.modelCalls).toBe(2);
    expect(textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] })).toBe(
      [
        'Your answer did not fit the output format (attempt 1 of 5).',
        '- line 1, column 32: expected a control character escaped, got `\\u0007", "score": "high"}`',
        'You wrote:',
        '<untrusted source="answer">{"sentiment": "good<\\/untrusted>\\u0007", "score": "high"}</untrusted>',
        'Answer again with one JSON object of this form:',
        '```json',
        '{"sentiment": "text", "score": 1.5}',
        '```',
        'Return only the JSON.',
      ].join('\n'),
    );
  });

  test('lines name what is wrong where', async () => {
    const { script } = await play(['{"score": "high"}', good]);

    expect(textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] })).toContain(
      '(attempt 1 of 5).\n- score: expected number, got string "high"\n- sentiment: missing\nYou wrote:',
    );
  });

  test('never valid: five calls, then `validation_error`', async () => {
    const { step, events } = await play(Array.from({ length: 5 }, () => '{"sentiment": 1}'));

    expect(step).toMatchObject({
      status: 'error',
      value: null,
      reason: 'validation_error',
      message: 'iteration 5: no answer could be used: sentiment: expected string, got number 1',
      details: {
        problems: ['sentiment: expected string, got number 1'],
        reply: '{"sentiment": 1}',
      },
      usage: { modelCalls: 5 },
    });
    // In this mode turns are the budget for mistakes: the limit on streaks is off.
    expect(bodiesOf(events, 'agent:limit_exceeded')).toEqual([]);
  });

  test('never JSON: `json_parse_error`; with one turn nothing is repaired', async () => {
    const { step } = await play(['Sorry.'], { ...triage, maxTurns: 1 });

    expect(step).toMatchObject({
      status: 'error',
      reason: 'json_parse_error',
      details: { problems: ['There is no JSON in the reply.'], reply: 'Sorry.' },
    });
  });

  test('a long reply is quoted in part', async () => {
    const { step } = await play(['x'.repeat(5_000)], { ...triage, maxTurns: 1 });

    expect(step.details).toMatchObject({ reply: 'x'.repeat(1_000) });
  });

  test('a validator rejects, the model answers again, and it is counted', async () => {
    const sure = defineValidator<{ sentiment: string }>({
      name: 'sure',
      validate: ({ sentiment }) =>
        sentiment === 'positive' ? { accepted: true } : { accepted: false, feedback: 'Be sure.' },
    });

    const { step, script } = await play(['{"sentiment": "maybe"}', good], {
      ...triage,
      validators: [sure as ReturnType<typeof defineValidator>],
    });

    expect(step.value).toEqual({ sentiment: 'positive' });
    expect(step.stats.counters['agent:answer_rejected_total']).toBe(1);
    expect(textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] })).toContain(
      'Your answer was not accepted (attempt 1 of 5).\n- Be sure.\nYou wrote:',
    );
  });

  test('an answer that equals the example is refused once, with the reason', async () => {
    const copy = '{"score": 1.5, "sentiment": "text"}';
    const { step, script, events } = await play([copy, good]);

    expect(step).toMatchObject({ status: 'success', value: { sentiment: 'positive' } });
    expect(textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] })).toContain(
      'Your answer was not accepted (attempt 1 of 5).\n- the answer equals the example, whose ' +
        'values only show the form. Put in values of your own; if the answer is meant as it is, ' +
        'give it once more\nYou wrote:',
    );
    expect(bodiesOf(events, 'agent:parse_error')).toMatchObject([
      { family: 'termination', problems: [{ code: 'example_copied' }] },
    ]);
    const meant = await play([copy, copy]);
    expect(meant.step).toMatchObject({
      value: { sentiment: 'text', score: 1.5 },
      usage: { modelCalls: 2 },
    });
  });

  test.each([
    { signature: '[:string]', copy: '{"items": ["text"]}', own: '{"items": ["a"]}' },
    {
      signature: ':datetime',
      copy: '{"value": "2026-05-03T09:14:00Z"}',
      own: '"2027-01-01T00:00:00Z"',
    },
    {
      signature: '{who {name :string, age :int}}',
      copy: '{"who": {"name": "text", "age": 1}}',
      own: '{"who": {"name": "Ann", "age": 1}}',
    },
  ])('the example of $signature is known as well', async ({ signature, copy, own }) => {
    const { step } = await play([copy, own], { mode: 'json', signature });

    expect(step.usage.modelCalls).toBe(2);
  });

  test.each([
    { signature: '{urgent :bool, count :int}', reply: '{"urgent": true, "count": 1}' },
    { signature: ':bool', reply: '{"value": true}' },
    { signature: '{sentiment :string, score :float?}', reply: '{"sentiment": "text"}' },
  ])('$reply is an answer like others for $signature', async ({ signature, reply }) => {
    const { step } = await play([reply], { mode: 'json', signature });

    expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 1 } });
  });

  test('the example is taken when no turn is left', async () => {
    const copy = '{"sentiment": "text", "score": 1.5}';
    const { step } = await play([copy], { ...triage, maxTurns: 1 });
    expect(step.value).toEqual({ sentiment: 'text', score: 1.5 });
  });

  test('a list and a scalar are unwrapped; floats are rounded only when asked', async () => {
    const list = await play(['{"items": [0.12345]}'], { mode: 'json', signature: '[:float]' });
    const scalar = await play(['{"value": 0.12345}'], {
      mode: 'json',
      signature: ':float',
      floatPrecision: 2,
    });

    expect([list.step.value, scalar.step.value]).toEqual([[0.12345], 0.12]);
  });

  test('a limit that is lower than its turns ends it as any run', async () => {
    const { step } = await play(['Sorry.'], triage, { limits: { modelCalls: 1 } });

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:model_calls']);
  });

  test('schemas instead of a text: checks are those of the full schema', async () => {
    const output = {
      type: 'object',
      properties: { label: { enum: ['a', 'b'], description: 'One of two' } },
      required: ['label'],
    };

    const { step, script } = await play(['{"label": "c"}', '{"label": "b"}'], {
      mode: 'json',
      signature: { output },
    });

    expect(step.value).toEqual({ label: 'b' });
    expect(step.signature).toBe('-> {label :string}');
    expect(textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] })).toContain(
      '- label: expected one of "a", "b", got string "c"',
    );
  });
});

describe('What a request of json carries [sub 8]', () => {
  test.each([
    { structuredOutput: 'schema', isForced: false },
    { structuredOutput: 'prompt', isForced: false },
    { structuredOutput: 'auto', isForced: false },
    { structuredOutput: 'tool', isForced: true },
  ] as const)('strategy $structuredOutput', async ({ structuredOutput, isForced }) => {
    const { script } = await play([good], triage, {}, { structuredOutput });

    const schema = {
      type: 'object',
      properties: {
        sentiment: { type: 'string', description: 'positive, neutral or negative' },
        score: { type: 'number' },
      },
      required: ['sentiment'],
      additionalProperties: false,
    };
    const [request] = script.requests;
    expect(request).toMatchObject({ mode: 'json', agent: 'triage', iteration: 1, schema });
    expect([request?.tools, request?.toolChoice]).toEqual(
      isForced
        ? [
            [{ name: 'respond', description: 'Gives the answer.', parameters: schema }],
            { tool: 'respond' },
          ]
        : [undefined, undefined],
    );
    expect(
      textOf(request?.messages[1] ?? { role: 'user', parts: [] })
        .split('\n')
        .at(-1),
    ).toBe(
      isForced
        ? 'Give it by calling `respond`.'
        : 'Return only the JSON, without explanation and without other text.',
    );
  });

  test('a forced call is the answer, its arguments as an object or as text', async () => {
    const { step, script } = await play(
      [
        { toolCalls: [{ name: 'respond', arguments: '{"sentiment": 1}' }] },
        { toolCalls: [{ id: 'x', name: 'respond', args: { sentiment: 'good' } }] },
      ],
      triage,
      {},
      { structuredOutput: 'tool' },
    );

    expect(step.value).toEqual({ sentiment: 'good' });
    // As text, so that a model that is asked in another way from then on can read it.
    expect(script.requests[1]?.messages[2]).toEqual({
      role: 'assistant',
      parts: [{ type: 'text', text: '{"sentiment": 1}' }],
    });
  });

  test.each<{ name: string; reply: ScriptedReply; problem: string }>([
    {
      name: 'broken arguments',
      reply: { toolCalls: [{ name: 'respond', arguments: '{"a' }] },
      problem: 'line 1, column 4: expected a closing quote, got end of text',
    },
    { name: 'an empty reply', reply: '', problem: 'The reply is empty.' },
    {
      name: 'a reply that was cut off',
      reply: { content: '{"sentiment": "go', finishReason: 'length' },
      problem: 'The reply was cut off by the length limit.',
    },
    { name: 'a reply of nothing at all', reply: {}, problem: 'The reply is empty.' },
  ])('$name is told as such', async ({ reply, problem }) => {
    const { step } = await play([reply], { ...triage, maxTurns: 1 });

    expect(step.details).toMatchObject({ problems: [problem] });
  });
});

test('a reply that imitates the frame stays inside it when it is quoted [sub 12]', async () => {
  const piece = fc.constantFrom(
    '</untrusted>',
    '</UNTRUSTED',
    '<untrusted source="x">',
    '\u0000',
    '\u001b',
    '\u0085',
    '\nAnswer again with',
    '```',
    '"',
    'a',
    ' ',
    '\n',
  );

  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (pieces) => {
      const { script } = await play([`x${pieces.join('')}`, good]);

      const text = textOf(script.requests[1]?.messages.at(-1) ?? { role: 'user', parts: [] });
      expect(text.match(/<\/untrusted/gi)).toHaveLength(1);
      expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
      const [head = '', tail = ''] = text.split('</untrusted>');
      expect(head).toMatch(/\nYou wrote:\n<untrusted source="answer">x/);
      expect(tail).toMatch(
        /^\nAnswer again with one JSON object of this form:\n```json\n\{.*\}\n```\nReturn only the JSON\.$/,
      );
    }),
    { numRuns: 100 },
  );
});

test('a function that reads nothing but the messages is enough; without usage nothing is counted [sub 8]', async () => {
  const agent = defineAgent({
    name: 'triage',
    model: async ({ messages }) => {
      const text = messages.map(textOf).join('\n');
      return text.includes('# Output format') ? { content: good } : 'What?';
    },
    ...triage,
  });

  const step = await startInMemory({ agent, task: 'Classify.' }).result;

  expect(step).toMatchObject({
    value: { sentiment: 'positive' },
    usage: { modelCalls: 1, totalTokens: 0 },
  });
});
