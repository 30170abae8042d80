import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { llmTool, type LlmToolOptions } from '../../../src/define/tool/define-llm-tool.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import type { ModelEntry } from '../../../src/define/model/model-entry.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../../src/testing/scripted-model.ts';
import {
  abortOf,
  answer,
  bodiesOf,
  gate,
  searchTool,
  startRun,
  typesOf,
  type RunOptions,
  type StartedRun,
} from '../../support/runs.ts';

const REVIEW = 'Great product, slow delivery';

/** A tool that classifies a review with a model of its own. */
function classify(options: Partial<LlmToolOptions> = {}): ToolDefinition {
  return llmTool({
    name: 'classify',
    prompt: 'Which label fits?\n{{review}}',
    signature: '(review :string, hint :string?) -> {label :string, score :float?}',
    model: 'small',
    ...options,
  });
}

/** A react reply that calls `tool` with each of `args`, in one batch. */
function calls(tool: string, ...args: readonly object[]): string {
  const lines = args.map((it) => `- tool: ${tool}\n  args: ${JSON.stringify(it)}`);
  return `<action>\n${lines.join('\n')}\n</action>`;
}

/** A run whose model `m` plays `replies`, and whose LLM tools ask a model `small` that plays `answers`. */
function start(
  replies: readonly ScriptedReply[],
  answers: readonly ScriptedReply[],
  options: RunOptions & { readonly small?: Partial<ModelEntry> } = {},
): StartedRun & { readonly small: ScriptedModel } {
  const { small: entry = {}, models = [], agent, ...rest } = options;
  const small = scriptedModel(answers);
  const price = { input: 0, output: 0 };
  const started = startRun(replies, {
    models: [{ id: 'small', model: small.model, price, ...entry }, ...models],
    agent: { tools: [classify(), searchTool()], ...agent },
    ...rest,
  });
  return { ...started, small };
}

/** What the model read of its calls before request `index`, from 0. */
function observation({ script }: StartedRun, index = 1): string {
  const users = (script.requests[index]?.messages ?? []).filter(({ role }) => role === 'user');
  const text = users.map(textOf).findLast((it) => it.includes('<observation>')) ?? '';
  return text.replaceAll(/<\/?observation>/g, '').trim();
}

function messagesOf(request: ModelRequest | undefined): readonly (readonly [string, string])[] {
  return (request?.messages ?? []).map((message) => [message.role, textOf(message)] as const);
}

const FORM = [
  'Answer with one JSON object of this form:',
  '```json',
  '{"label": "text", "score": 1.5}',
  '```',
];
const FIRST = [
  '# Task',
  'Which label fits?',
  REVIEW,
  '# Output format',
  ...FORM,
  '- `score` (float, optional)',
  'Return only the JSON, without explanation and without other text.',
].join('\n');

describe('an LLM tool [sub 13]', () => {
  it('is one question with the arguments in it, and its answer is the result', async () => {
    const started = start(
      [calls('classify', { review: REVIEW }), answer()],
      ['{"label": "mixed", "score": 0.5}'],
    );
    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(observation(started)).toBe('<classify>\nlabel: mixed\nscore: 0.5\n</classify>');
    const [request] = started.small.requests;
    expect(messagesOf(request)).toEqual([
      ['system', 'You answer with one JSON value and nothing else.'],
      ['user', FIRST],
    ]);
    expect({ ...request, messages: [], schema: undefined }).toEqual({
      mode: 'json',
      agent: 'tester',
      runId: 'run-1',
      iteration: 1,
      attempt: 1,
      messages: [],
      schema: undefined,
      settings: {},
      cacheUpTo: 2,
    });
    expect(request?.schema).toEqual({
      type: 'object',
      properties: { label: { type: 'string' }, score: { type: 'number' } },
      required: ['label'],
      additionalProperties: false,
    });
    started.script.assertDone();
    started.small.assertDone();
  });

  it('its model calls are those of the run, without an iteration', async () => {
    const { run } = start(
      [calls('classify', { review: REVIEW }), answer()],
      ['{"label": 1}', '{"label": "mixed"}'],
    );
    const step = await run.result;

    expect([step.usage.modelCalls, step.usage.toolCalls, step.iterations]).toEqual([4, 1, 2]);
    expect([step.usage.inputTokens, step.usage.outputTokens]).toEqual([400, 40]);
    expect(valueOf(step.stats, 'agent:model_calls:small')).toBe(2);
    expect(valueOf(step.stats, 'agent:termination_parse_error_total')).toBe(0);
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'tool_call:before',
      'model_call:before',
      'model_call:after',
      'model_call:before',
      'model_call:after',
      'tool_call:after',
      'iteration:after',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(bodiesOf(run.events, 'agent:model_call:before').slice(1, 3)).toEqual([
      {
        type: 'agent:model_call:before',
        model: 'small',
        purpose: 'tool',
        messages: 2,
        callId: '1.1',
      },
      {
        type: 'agent:model_call:before',
        model: 'small',
        purpose: 'tool',
        messages: 4,
        callId: '1.1',
      },
    ]);
    expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([
      { callId: '1.1', outcome: 'ok', started: true, attempts: 2, output: { label: 'mixed' } },
    ]);
  });

  it('a misfit goes back with the reasons, as in mode json', async () => {
    const { run, small } = start(
      [calls('classify', { review: REVIEW }), answer()],
      ['no idea', '{"label": 1}', '{"label": "mixed"}'],
    );
    await run.result;

    const again = [
      'Answer again with one JSON object of this form:',
      ...FORM.slice(1),
      'Return only the JSON.',
    ];
    expect(messagesOf(small.requests[2])).toEqual([
      ['system', 'You answer with one JSON value and nothing else.'],
      ['user', FIRST],
      ['assistant', 'no idea'],
      [
        'user',
        [
          'Your answer did not fit the output format (attempt 1 of 3).',
          '- There is no JSON in the reply.',
          'You wrote:',
          '<untrusted source="answer">no idea</untrusted>',
          ...again,
        ].join('\n'),
      ],
      ['assistant', '{"label": 1}'],
      [
        'user',
        [
          'Your answer did not fit the output format (attempt 2 of 3).',
          '- label: expected string, got number 1',
          'You wrote:',
          '<untrusted source="answer">{"label": 1}</untrusted>',
          ...again,
        ].join('\n'),
      ],
    ]);
    expect(small.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('refuses an answer that equals the example, once', async () => {
    const copy = '{"label": "text", "score": 1.5}';
    const replies = [calls('classify', { review: REVIEW }), answer()];
    const changed = start(replies, [copy, '{"label": "mixed"}']);
    await changed.run.result;
    expect(observation(changed)).toBe('<classify>\nlabel: mixed\n</classify>');
    expect(messagesOf(changed.small.requests[1]).at(-1)?.[1]).toContain(
      'Your answer was not accepted (attempt 1 of 3).\n- the answer equals the example',
    );

    const meant = start(replies, [copy, copy]);
    await meant.run.result;
    expect(observation(meant)).toBe('<classify>\nlabel: text\nscore: 1.5\n</classify>');

    const once = start(replies, [copy], { agent: { tools: [classify({ maxTurns: 1 })] } });
    await once.run.result;
    expect(observation(once)).toBe('<classify>\nlabel: text\nscore: 1.5\n</classify>');
  });

  it.each<{
    readonly name: string;
    readonly tool?: Partial<LlmToolOptions>;
    readonly args?: object;
    readonly answers: readonly ScriptedReply[];
    readonly text: string;
    readonly outcome?: string;
    readonly started?: boolean;
  }>([
    {
      name: 'never fits',
      tool: { maxTurns: 2 },
      answers: ['{"label": 1}', '{"label": 2}'],
      text: 'Error: classify did not finish: validation_error, no answer could be used: label: expected string, got number 2',
    },
    {
      name: 'is never JSON',
      tool: { maxTurns: 1 },
      answers: ['hm'],
      text: 'Error: classify did not finish: json_parse_error, no answer could be used: There is no JSON in the reply.',
    },
    {
      name: 'is refused by the provider',
      answers: [Object.assign(new Error('No such model.'), { statusCode: 404 })],
      text: 'Error: classify did not finish: model_request_refused, HTTP 404: No such model.',
    },
    {
      name: 'is blank where text is wanted',
      tool: { signature: '(review :string) -> :string' },
      answers: [' '],
      text: 'Error: classify did not finish: empty_response, the reply is empty',
    },
    {
      name: 'cannot be asked, as the template has no value for a name',
      tool: { prompt: '{{review}} {{hint}}' },
      answers: [],
      text: 'Error: missing: {{hint}} (line 1, column 12)',
      started: false,
    },
    {
      name: 'has arguments that do not fit',
      args: { review: [3] },
      answers: [],
      outcome: 'rejected',
      started: false,
      text: [
        'Error: the arguments do not fit classify.',
        '- review: expected string, got array [3]',
        'Parameters:',
        '- review (string, required)',
        '- hint (string)',
      ].join('\n'),
    },
    {
      name: 'has a moment without an offset',
      tool: { signature: '(review :string, at :datetime) -> :string' },
      args: { review: 'x', at: '2026-05-03T09:14:00' },
      answers: [],
      outcome: 'rejected',
      started: false,
      text: [
        'Error: the arguments do not fit classify.',
        '- at: datetime needs an offset, got "2026-05-03T09:14:00"',
        'Parameters:',
        '- review (string, required)',
        '- at (string, required)',
      ].join('\n'),
    },
  ])('that $name is an error of the tool', async ({ tool, args, answers, ...expected }) => {
    const { text, outcome = 'error', started: begun = true } = expected;
    const started = start([calls('classify', args ?? { review: REVIEW }), answer()], answers, {
      agent: { tools: [classify(tool)] },
    });
    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(observation(started)).toBe(`<classify>\n${text}\n</classify>`);
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome, started: begun, error: text },
    ]);
    started.small.assertDone();
  });

  it.each([
    { name: ':string', signature: '(review :string, hint :string?) -> :string' },
    { name: 'none', signature: { input: z.object({ review: z.string(), hint: z.string() }) } },
  ])('an output of $name is the text of the reply', async ({ signature }) => {
    const started = start([calls('classify', { review: 'x', hint: 'y' }), answer()], [' Fine.\n'], {
      agent: { tools: [classify({ signature })] },
    });
    await started.run.result;

    expect(started.small.requests.map((it) => [it.mode, it.schema, messagesOf(it)])).toEqual([
      [
        'text',
        undefined,
        [['user', 'Which label fits?\nx\n# Context\n<data name="hint">y</data>']],
      ],
    ]);
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')[0]?.output).toBe(' Fine.\n');
  });

  it('its own model is not needed: then it asks that of the run', async () => {
    const tool = llmTool({
      name: 'shorten',
      prompt: 'Shorten: {{text}}',
      signature: '(text :string) -> :string',
    });
    const { run, script } = start([calls('shorten', { text: 'long' }), 'short', answer()], [], {
      agent: { tools: [tool] },
    });
    const step = await run.result;

    expect([step.status, step.usage.modelCalls]).toEqual(['success', 3]);
    expect(messagesOf(script.requests[1])).toEqual([['user', 'Shorten: long']]);
  });

  it('a schema of a library judges its answer', async () => {
    const output = z.object({ label: z.string().refine((it) => it !== 'bad', 'not bad') });
    const { run, small } = start(
      [calls('classify', { review: REVIEW }), answer()],
      ['{"label": "bad"}', '{"label": "good"}'],
      {
        agent: {
          tools: [classify({ signature: { input: z.object({ review: z.string() }), output } })],
        },
      },
    );
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(messagesOf(small.requests[1]).at(-1)?.[1]).toContain('- label: not bad');
    expect(bodiesOf(run.events, 'agent:tool_call:after')[0]?.output).toEqual({ label: 'good' });
  });

  it('a fallback answers, in the way in which it is asked', async () => {
    const spare = scriptedModel(['{"label": "x"}']);
    const refused = Object.assign(new Error('Down.'), { statusCode: 401 });
    const { run } = start([calls('classify', { review: REVIEW }), answer()], [refused], {
      small: { structuredOutput: 'schema', fallbacks: ['spare'] },
      models: [{ id: 'spare', model: spare.model, structuredOutput: 'tool' }],
    });
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(spare.requests[0]?.toolChoice).toEqual({ tool: 'respond' });
    expect(spare.requests[0]?.schema).toMatchObject({ required: ['label'] });
    expect(valueOf(step.stats, 'agent:model_calls:spare')).toBe(1);
  });

  it('a refused schema is asked for more plainly, for the rest of the run', async () => {
    const refused = Object.assign(new Error('No schemas.'), { statusCode: 400 });
    const { run, small } = start(
      [calls('classify', { review: 'a' }), calls('classify', { review: 'b' }), answer()],
      [refused, refused, '{"label": "x"}', '{"label": "y"}'],
      { small: { structuredOutput: 'schema' } },
    );
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(bodiesOf(run.events, 'agent:structured_output_downgraded')).toEqual([
      { type: 'agent:structured_output_downgraded', model: 'small', from: 'schema', to: 'tool' },
      { type: 'agent:structured_output_downgraded', model: 'small', from: 'tool', to: 'prompt' },
    ]);
    expect(small.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([0, 1, 0, 0]);
  });
});

describe('LLM tools and the run that calls them [sub 13]', () => {
  it('run side by side, and their results stand in request order', async () => {
    const second = gate();
    const started = start(
      [calls('classify', { review: 'a' }, { review: 'b' }), answer()],
      [
        async () => {
          await second.opened;
          return '{"label": "first"}';
        },
        () => {
          second.open();
          return '{"label": "second"}';
        },
      ],
    );
    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(observation(started)).toBe(
      '<classify>\nlabel: first\n</classify>\n<classify>\nlabel: second\n</classify>',
    );
  });

  it('a limit on model calls counts those in flight', async () => {
    const started = start(
      [calls('classify', { review: 'a' }, { review: 'b' }, { review: 'c' })],
      ['{"label": "x"}', '{"label": "x"}'],
      { limits: { modelCalls: 3 } },
    );
    const step = await started.run.result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:model_calls']);
    expect(step.usage.modelCalls).toBe(3);
    expect(
      bodiesOf(started.run.events, 'agent:tool_call:after').map(({ outcome, started: ran }) => [
        outcome,
        ran,
      ]),
    ).toEqual([
      ['canceled', false],
      ['ok', true],
      ['ok', true],
    ]);
    started.small.assertDone();
  });

  it('what it costs binds the run', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 0 };
    const { run, small } = start(
      [calls('classify', { review: 'a' })],
      [{ content: '{"label": 1}', usage }],
      { limits: { costUsd: 0.001 }, small: { price: { input: 2, output: 2 } } },
    );
    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:cost_microusd']);
    expect(step.usage.costMicroUsd).toBe(2_000);
    small.assertDone();
  });

  it.each(['cancel', 'interrupt'] as const)('a %s ends its question early', async (kind) => {
    const started = start(
      [calls('classify', { review: 'a' }), answer()].slice(0, kind === 'cancel' ? 1 : 2),
      [
        async (_request, { signal }) => {
          if (kind === 'cancel') started.run.cancel('enough');
          else started.run.send('Stop that.', { kind: 'interrupt' });
          await abortOf(signal);
          throw new Error('stopped');
        },
      ],
    );
    const step = await started.run.result;

    expect(step.status).toBe(kind === 'cancel' ? 'canceled' : 'success');
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'canceled', started: true, error: 'Error: canceled before it finished.' },
    ]);
    expect(bodiesOf(started.run.events, 'agent:model_call:after')[1]).toMatchObject({
      purpose: 'tool',
      error: { code: 'aborted' },
    });
    started.script.assertDone();
  });

  it('with `cache` an equal call is not asked again', async () => {
    const started = start(
      [calls('classify', { review: 'a' }), calls('classify', { review: 'a' }), answer()],
      ['{"label": "x"}'],
      { agent: { tools: [classify({ cache: true })] } },
    );
    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(observation(started, 2)).toBe('<classify>\nlabel: x\n</classify>');
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')[1]).toMatchObject({
      cached: true,
    });
    started.small.assertDone();
  });

  it.each([
    { name: 'always', approval: 'always' as const },
    {
      name: 'for some arguments',
      approval: ({ review }: object & { review?: unknown }) => review === 'a',
    },
  ])('a person approves it: $name', async ({ approval }) => {
    const started = start([calls('classify', { review: 'a' }), answer()], ['{"label": "x"}'], {
      agent: { tools: [classify({ approval })] },
    });
    const seen = await started.run.resultOrPending();
    expect(seen).toMatchObject({
      kind: 'pending',
      pending: [{ kind: 'approval', tool: 'classify' }],
    });
    started.run.decide('1.1', { args: { review: 'b' } });
    await started.run.result;

    expect(messagesOf(started.small.requests[0])[1]?.[1]).toContain('Which label fits?\nb');
    expect(observation(started)).toContain('A person changed the arguments to {"review":"b"}.');
  });

  it('works as a native call in chat', async () => {
    const call = { id: 'c1', name: 'classify', args: { review: REVIEW, hint: null } };
    const { run, script, small } = start([{ toolCalls: [call] }, 'Mixed.'], ['{"label": "x"}'], {
      agent: { mode: 'chat', tools: [classify()] },
    });
    const step = await run.result;

    expect(step.value).toBe('Mixed.');
    expect(script.requests[0]?.tools).toEqual([
      {
        name: 'classify',
        description: 'Which label fits?',
        parameters: {
          type: 'object',
          properties: { review: { type: 'string' }, hint: { type: 'string' } },
          required: ['review'],
          additionalProperties: false,
        },
      },
    ]);
    expect(script.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      parts: [{ type: 'tool_result', tool: 'classify', isError: false }],
    });
    small.assertDone();
  });
});

describe('llm_query [sub 13]', () => {
  const agent = { tools: [], llmQuery: true };

  it('asks a text of the model of the run by default', async () => {
    const started = start(
      [
        calls('llm_query', {
          prompt: 'Greet {{name}}',
          name: 'Ann',
          note: 'briefly',
          _key: 'SENTINEL',
        }),
        'Hi Ann.',
        answer(),
      ],
      [],
      { agent },
    );
    await started.run.result;

    expect(messagesOf(started.script.requests[1])).toEqual([
      ['user', 'Greet Ann\n# Context\n<data name="note">briefly</data>'],
    ]);
    expect(observation(started, 2)).toBe('<llm_query>\nHi Ann.\n</llm_query>');
  });

  it('takes a signature and a model of the worker', async () => {
    const started = start(
      [
        calls('llm_query', {
          prompt: 'Rate {{text}}',
          signature: '(text :string, limit :int) -> {stars :int}',
          model: 'small',
          text: 'fine',
          limit: '5',
        }),
        answer(),
      ],
      ['{"stars": "many"}', '{"stars": 4}'],
      { agent },
    );
    await started.run.result;

    expect(started.small.requests.map(({ mode }) => mode)).toEqual(['json', 'json']);
    expect(messagesOf(started.small.requests[0])[1]?.[1]).toContain(
      '# Context\n<data name="limit">5</data>\n# Task\nRate fine',
    );
    expect(observation(started)).toBe('<llm_query>\nstars: 4\n</llm_query>');
  });

  it.each<{ readonly args: object; readonly lines: readonly string[] }>([
    {
      args: { prompt: 'x', signature: '{a :list}' },
      lines: [
        'Expected a type at line 1, column 4 of `signature`, got `:list`. Types are :string, :int, :float, :bool, :keyword, :map, :any, :datetime; a list is written [:type], a record {name :type}.',
      ],
    },
    {
      args: { prompt: '{{#x}}', signature: '{_a :int}', model: 'smal' },
      lines: [
        "prompt: unclosed section 'x' opened at line 1, column 1",
        'signature: expected no hidden fields, got `_a`',
        'model: expected one of m, small, got "smal", did you mean "small"?',
      ],
    },
    { args: { prompt: 'Hi {{who}}' }, lines: ['prompt: missing: {{who}} (line 1, column 4)'] },
    {
      args: { prompt: 'x', signature: '(n :int) -> :int', n: 'many' },
      lines: ['n: cannot coerce string "many" to integer'],
    },
    { args: {}, lines: ['prompt: missing'] },
  ])('tells what is wrong with $args', async ({ args, lines }) => {
    const started = start([calls('llm_query', args), answer()], [], { agent });
    await started.run.result;

    const [told = ''] = observation(started)
      .replace('<llm_query>\nError: the arguments do not fit llm_query.\n', '')
      .split('\nParameters:');
    expect(told).toBe(lines.map((line) => `- ${line}`).join('\n'));
  });

  it('under a limit on cost it knows the models with a price alone', async () => {
    const free = scriptedModel([]);
    const started = start([calls('llm_query', { prompt: 'x', model: 'free' }), answer()], [], {
      agent,
      limits: { costUsd: 1 },
      models: [{ id: 'free', model: free.model }],
    });
    await started.run.result;

    expect(observation(started)).toContain('- model: expected one of m, small, got "free"');
  });
});

describe('LLM tools in programs [sub 13]', () => {
  const lisp = { mode: 'lisp', tools: [classify(), searchTool()], llmQuery: true } as const;
  const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;

  it('are called like any tool, side by side, and their results are values', async () => {
    const source = program(`(return (->> (pmap (fn [it] (tool/classify {:review it})) ["a" "b"])
      (map :label)
      (join "+")
      (hash-map :text (tool/llm-query {:prompt "Say {{n}}" :n 3}) :labels)))`);
    const answers = (label: string): ScriptedReply => JSON.stringify({ label });
    const started = start([source, 'Three.'], [answers('x'), answers('y')], { agent: lisp });
    const step = await started.run.result;

    expect([step.status, step.value]).toEqual(['success', { text: 'Three.', labels: 'x+y' }]);
    expect([step.usage.modelCalls, step.usage.toolCalls, step.iterations]).toEqual([4, 3, 1]);
    expect(
      bodiesOf(started.run.events, 'agent:model_call:before').map(({ callId }) => callId),
    ).toEqual([undefined, '1.p1', '1.p2/0/1', '1.p2/1/1']);
  });

  it('fail as tools do, and a program recovers', async () => {
    const source = program(
      '(return (let [r (attempt (tool/classify {:review "a"}))] (:message (:error r))))',
    );
    const started = start([source], ['hm', 'hm', 'hm'], { agent: lisp });
    const step = await started.run.result;

    expect(step.value).toBe(
      '`classify` failed: classify did not finish: json_parse_error, no answer could be used: There is no JSON in the reply.',
    );
  });

  it('have their literal arguments checked before anything runs', async () => {
    const started = start(
      [program('(tool/search {:query "x"})\n(tool/classify {:review 3})'), program('(return 1)')],
      [],
      { agent: lisp },
    );
    const step = await started.run.result;

    expect([step.value, step.usage.toolCalls]).toEqual([1, 0]);
    expect(messagesOf(started.script.requests[1]).at(-1)?.[1]).toContain(
      '`classify` expects `review` to be a string, got a number 3.',
    );
  });

  it('are ended when their branch is needed no more', async () => {
    const asked = gate();
    const failing = searchTool(async () => {
      await asked.opened;
      throw new Error('down');
    });
    const source = program(
      '(pmap (fn [it] (if (= it 1) (tool/search {:query "x"}) (tool/classify {:review "a"}))) [1 2])',
    );
    const spare = scriptedModel([]);
    const started = start(
      [source, program('(return 1)')],
      [
        async (_request, { signal }) => {
          asked.open();
          await abortOf(signal);
          throw new Error('stopped');
        },
      ],
      {
        agent: { ...lisp, tools: [classify(), failing] },
        small: { fallbacks: ['spare'] },
        models: [{ id: 'spare', model: spare.model }],
      },
    );
    const step = await started.run.result;

    expect(step.value).toBe(1);
    expect(
      bodiesOf(started.run.events, 'agent:tool_call:after').map(({ tool, outcome }) => [
        tool,
        outcome,
      ]),
    ).toEqual([
      ['search', 'error'],
      ['classify', 'canceled'],
    ]);
    // Nobody needs the answer, so the fallback is not asked.
    expect(spare.requests).toEqual([]);
  });

  it('give what does not fit into a value as an error, never cut JSON', async () => {
    const many = JSON.stringify(Array.from({ length: 9_000 }, (_, index) => `item ${index}`));
    const started = start(
      [program('(return (:reason (:error (attempt (tool/list-all {})))))')],
      [many],
      {
        agent: {
          ...lisp,
          tools: [
            llmTool({ name: 'list_all', prompt: 'All.', signature: '[:string]', model: 'small' }),
          ],
        },
      },
    );
    const step = await started.run.result;

    expect(step.value).toBe('tool_error');
    expect(bodiesOf(started.run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'error', error: expect.stringContaining('at most 65536 are allowed') },
    ]);
  });
});
