import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { compileAgent } from '../../../src/registry/compile-agent.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { counter, slidingWindow } from '../../../src/define/agent/define-compaction.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { lispMode } from '../../../src/core/modes/lisp.ts';
import { textOf, type Message } from '../../../src/core/base/message.ts';
import { PREAMBLE } from '../../../src/core/program-text/feedback.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../../src/testing/scripted-model.ts';
import { ToolError } from '../../../src/core/base/tool-error.ts';
import { bodiesOf } from '../../support/runs.ts';

interface Played {
  readonly step: Step;
  readonly script: ScriptedModel;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Entry[];
}

const price = defineTool({
  name: 'price',
  description: 'Says what a thing costs.',
  parameters: z.object({ thing: z.string() }),
  retry: { attempts: 1 },
  execute: ({ thing }) => {
    if (thing === 'moon') throw new ToolError('not for sale');
    return { thing, cents: thing.length * 100 };
  },
});

/** Runs an agent `buyer` with a model `m` that plays `replies`. */
async function play(
  replies: readonly ScriptedReply[],
  agent: Partial<AgentOptions> = {},
  start: Partial<MemoryRunOptions> = {},
): Promise<Played> {
  const script = scriptedModel(replies);
  const definition = defineAgent({
    name: 'buyer',
    mode: 'lisp',
    model: { id: 'm', model: script.model },
    tools: [price],
    ...agent,
  });
  const run = startInMemory({ agent: definition, task: 'Buy.', ...start });
  const step = await run.result;
  script.assertDone();
  return { step, script, events: run.events, entries: run.entries };
}

const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;

/** What the model was told before request `index`, from 0. */
function told({ script }: Played, index: number): string {
  return textOf(script.requests[index]?.messages.at(-1) ?? { role: 'user', parts: [] });
}

const counters = (step: Step, ...keys: readonly string[]): readonly number[] =>
  keys.map((key) => step.stats.counters[`agent:${key}`] ?? 0);

const framed = (source: string, text: string): string =>
  `<untrusted source="${source}">${text}</untrusted>`;

describe('A turn of lisp, row by row [sub 10]', () => {
  test('a return that fits ends the run', async () => {
    const { step, events } = await play(
      [program('(return {:total-cents (:cents (tool/price {:thing "tea"}))})')],
      { signature: '{total_cents :int}' },
    );

    expect(step).toMatchObject({
      mode: 'lisp',
      status: 'success',
      reason: 'answered',
      value: { total_cents: 300 },
      signature: '-> {total_cents :int}',
      iterations: 1,
    });
    expect(counters(step, 'code_executions', 'code_executions_error', 'tool_calls')).toEqual([
      1, 0, 1,
    ]);
    expect(events.map(({ type }) => type).filter((type) => !type.includes('history'))).toEqual([
      'agent:execution:before',
      'agent:iteration:before',
      'agent:model_call:before',
      'agent:model_call:after',
      'agent:turn:read',
      'agent:program:before',
      'agent:tool_call:before',
      'agent:tool_call:after',
      'agent:program:after',
      'agent:answer:judged',
      'agent:iteration:after',
      'agent:execution:after',
    ]);
  });

  test('a return that does not fit is repaired, with its definitions kept', async () => {
    const played = await play(
      [program('(def n 3)\n(return {:total "much"})'), program('(return {:total n})')],
      { signature: '{total :int}' },
    );

    expect(told(played, 1)).toBe(
      [
        'n = 3',
        '`return` was rejected:',
        '- total: expected integer, got string "much"',
        'You returned: {:total "much"}',
        'Call `(return …)` again with a value of this form: {total int}',
        'Turn 1 of 5: 4 turns left.',
      ].join('\n'),
    );
    expect(played.step).toMatchObject({ value: { total: 3 }, iterations: 2 });
    expect(counters(played.step, 'termination_parse_error_total', 'code_executions_error')).toEqual(
      [1, 0],
    );
  });

  test('a return that a validator rejects', async () => {
    const even = defineValidator({
      name: 'even',
      validate: (answer) =>
        Number(answer) % 2 === 0 ? { accepted: true } : { accepted: false, feedback: 'Even!' },
    });
    const played = await play([program('(return 3)'), program('(return 4)')], {
      validators: [even],
    });

    expect(told(played, 1)).toBe(
      [
        '`return` was rejected:',
        '- Even!',
        'You returned: 3',
        'Call `(return …)` again.',
        'Turn 1 of 5: 4 turns left.',
      ].join('\n'),
    );
    expect(played.step.value).toBe(4);
    expect(counters(played.step, 'answer_rejected_total', 'answer_rejected_by:even')).toEqual([
      1, 1,
    ]);
  });

  test('a key that stands twice in a value as JSON is warned of', async () => {
    const played = await play([program('(return {:a 1 "a" 2})'), program('(return {:a "1"})')], {
      signature: '{a :string}',
    });

    expect(told(played, 1)).toContain(
      framed(
        'error',
        "Warning: Two keys of one map are both `a` as JSON; the keyword's value was taken.",
      ),
    );
    expect(played.step.value).toEqual({ a: '1' });
  });

  test('a return without a JSON form', async () => {
    const played = await play([program('(return {:f inc})'), program('(return 1)')]);

    expect(told(played, 1)).toContain('`return` was rejected:\n- The function at [:f] has no JSON');
    expect(played.step.value).toBe(1);
  });

  test.each<readonly [source: string, end: Partial<Step>]>([
    [
      '(fail {:reason "too_dear" :message "It costs 3 euros." :cents 300})',
      {
        reason: 'too_dear',
        message: 'It costs 3 euros.',
        details: { reason: 'too_dear', message: 'It costs 3 euros.', cents: 300 },
      },
    ],
    [
      '(fail {:reason "gone"})',
      { reason: 'gone', message: '{:reason "gone"}', details: { reason: 'gone' } },
    ],
    ['(fail "no tea")', { reason: 'failed', message: '"no tea"', details: 'no tea' }],
    ['(fail nil)', { reason: 'failed', message: 'nil', details: null }],
  ])('%s ends the run', async (source, end) => {
    const { step } = await play([program(`(def x 1)\n${source}`)]);

    expect(step).toMatchObject({ status: 'error', value: null, iterations: 1, ...end });
    expect((step.memory as { bindings?: unknown }).bindings).toEqual({});
  });

  test('a plain value of the only program is the answer', async () => {
    const { step } = await play([program('(:cents (tool/price {:thing "tea"}))')], { maxTurns: 1 });

    expect(step).toMatchObject({ status: 'success', value: 300, iterations: 1 });
    expect(step.usage.fallbackUsed).toBeUndefined();
  });

  test.each<readonly [name: string, agent: Partial<AgentOptions>, values: number]>([
    ['the last turn', { maxTurns: 2 }, 2],
    ['the only turn', { maxTurns: 1 }, 1],
    ['the last work turn, with repairs left', { maxTurns: 1, retryTurns: 2 }, 1],
  ])('a plain value on %s, where only `return` ends the run', async (_name, agent, values) => {
    const { step } = await play(
      Array.from({ length: values }, () => program('5')),
      { completion: 'explicit', ...agent },
    );

    expect(step).toMatchObject({
      status: 'error',
      reason: 'must_return_missing',
      message: `iteration ${values}: The last turn ended without \`(return …)\`.`,
      value: null,
    });
  });

  test('a plain value otherwise is shown, and is `*1`', async () => {
    const played = await play([
      program('(def tea (tool/price {:thing "tea"}))\n(:cents tea)'),
      program('(println "cents" *1)\n(:thing tea)'),
      program('(return [*2 *1])'),
    ]);

    expect(told(played, 1)).toBe(
      [
        PREAMBLE,
        framed('result', '300'),
        'tea = {"cents" 300 "thing" "tea"}',
        'Turn 1 of 5: 4 turns left.',
      ].join('\n'),
    );
    expect(told(played, 2)).toBe(
      [PREAMBLE, framed('notes', 'cents 300'), 'Stored: tea', 'Turn 2 of 5: 3 turns left.'].join(
        '\n',
      ),
    );
    expect(played.step).toMatchObject({ value: [300, 'tea'], iterations: 3 });
  });

  test('an error drops definitions, names calls that succeeded, and is data of the next program', async () => {
    const played = await play([
      program('(def a 1)'),
      program('(def b 2)\n(task "t" (tool/price {:thing "tea"}))\n(tool/price {:thing "moon"})'),
      program('[a (:reason data/fail) (:cents (task "t" (tool/price {:thing "moon"})))]'),
      program('(return [*1 data/fail])'),
    ]);

    expect(told(played, 2)).toBe(
      [
        PREAMBLE,
        'Stored: a',
        framed(
          'error',
          [
            'tool_error at line 3, column 1: `price` failed: not for sale',
            '   3 | (tool/price {:thing "moon"})',
            '     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^',
          ].join('\n'),
        ),
        'Calls that already succeeded: `price` (1). Their effects stand.',
        'Turn 2 of 5: 3 turns left.',
      ].join('\n'),
    );
    expect(played.step.value).toEqual([[1, 'tool_error', 300], null]);
    expect(counters(played.step, 'code_executions', 'code_executions_error', 'tool_calls')).toEqual(
      [4, 1, 2],
    );
  });

  test('problems are told at once, and nothing runs', async () => {
    const played = await play([
      program('(tool/price {:thing "tea"})\n(tool/prize {:thing 5})\n(coun [1])'),
      program('(return 1)'),
    ]);

    const text = told(played, 1);
    expect(text).toContain('2 problems were found before the program ran. Nothing was executed.');
    expect(text).toContain('Did you mean `price`?');
    expect(text).toContain('Did you mean `count`?');
    expect(counters(played.step, 'tool_calls', 'code_executions_error')).toEqual([0, 1]);
  });

  test.each([
    ['I would say five.', 'No program was found. Write one ```clojure block.', 'no_code_found'],
    [
      `${program('(a)')}\n${program('(b)')}`,
      'Found 2 programs. Write one block.',
      'multiple_code_blocks',
    ],
  ])('no program in %j', async (reply, text, code) => {
    const played = await play([reply, program('(return 1)')]);

    expect(told(played, 1)).toBe(`${text}\nTurn 1 of 5: 4 turns left.`);
    expect(bodiesOf(played.events, 'agent:parse_error')).toMatchObject([
      { family: 'toolchain', problems: [{ code, message: text }] },
    ]);
    expect(counters(played.step, 'code_executions', 'toolchain_parse_error_total')).toEqual([1, 1]);
    expect(played.step.value).toBe(1);
  });

  test('a reply that was cut is not run', async () => {
    const played = await play([
      { content: '```clojure\n(tool/price {:thing "tea"})', finishReason: 'length' },
      program('(return 1)'),
    ]);

    expect(told(played, 1)).toBe(
      'Your reply was cut off by the length limit. Nothing in it was run. Write less and work in steps.\nTurn 1 of 5: 4 turns left.',
    );
    expect(counters(played.step, 'code_executions', 'format_parse_error_total')).toEqual([1, 1]);
  });

  test('the transcript keeps the program alone, the event what was around it', async () => {
    const played = await play([
      `First I look.\n${program('(str “a”)')}\nThen I answer.`,
      program('(return 1)'),
    ]);

    expect(textOf(played.script.requests[1]?.messages.at(-2) ?? { role: 'user', parts: [] })).toBe(
      program('(str "a")'),
    );
    expect(bodiesOf(played.events, 'agent:turn:read')).toMatchObject([
      { kind: 'program', reasoning: 'First I look.\n\nThen I answer.' },
      { kind: 'program' },
    ]);
    expect(JSON.stringify(played.entries)).not.toContain('First I look');
  });
});

describe('Turns that run out [sub 10]', () => {
  test('the newest plain value that fits becomes the answer', async () => {
    const { step } = await play(
      [program('{:total 1}'), program('{:total 2}'), program('"no total"'), program('nil')],
      { maxTurns: 4, signature: '{total :int}' },
    );

    expect(step).toMatchObject({
      status: 'success',
      reason: 'answered',
      value: { total: 2 },
      iterations: 4,
      usage: { fallbackUsed: true, modelCalls: 4 },
    });
    expect(counters(step, 'termination_parse_error_total', 'answer_rejected_total')).toEqual([
      0, 0,
    ]);
  });

  test('also behind a last turn that failed, and one that was handed over', async () => {
    const { step } = await play(
      [program('7'), program('(nope)')],
      { maxTurns: 2 },
      {
        handoverDue: () => true,
      },
    );

    expect(step).toMatchObject({ status: 'success', value: 7, usage: { fallbackUsed: true } });
  });

  const badReturn = '(value): expected integer, got string "x"';
  const noProgram = 'No program was found. Write one ```clojure block.';

  test.each<
    readonly [
      name: string,
      agent: Partial<AgentOptions>,
      reply: string,
      problems: readonly string[],
    ]
  >([
    ['no value fits', { signature: ':int' }, program('"x"'), [badReturn]],
    ['a rejected return', { signature: ':int' }, program('(return "x")'), [badReturn]],
    ['no program', { signature: ':int' }, 'Well.', [noProgram]],
    ['values that are no answers', { completion: 'explicit' }, 'Well.', [noProgram]],
  ])('else the run ends at its limit: %s', async (_name, agent, reply, problems) => {
    const { step } = await play([program('"x"'), reply], { maxTurns: 2, ...agent });

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: '$self:agent:iterations',
      message: 'limit reached: $self:agent:iterations would be 3, the limit is 2',
      iterations: 2,
    });
    expect(step.details).toEqual(problems.length === 0 ? undefined : { problems });
  });

  test('the last turn is announced, without the tools; repairs follow it', async () => {
    const played = await play(
      [program('1'), program('(return "a")'), program('(return "b")'), program('(return 3)')],
      { maxTurns: 2, retryTurns: 2, signature: ':int' },
    );

    expect([1, 2, 3].map((index) => told(played, index).split('\n').at(-1))).toEqual([
      'The next turn is the last. Return your answer in it.',
      'Repair turn 1 of 2: call `(return …)` again.',
      'Repair turn 2 of 2: call `(return …)` again.',
    ]);
    const starts = played.script.requests.map(({ messages }) =>
      textOf(messages[1] ?? { role: 'user', parts: [] }).startsWith(';; tools'),
    );
    expect(starts).toEqual([true, false, false, false]);
    expect(played.script.requests.map(({ messages }) => messages[0])).toEqual(
      Array.from({ length: 4 }, () => played.script.requests[0]?.messages[0]),
    );
    expect(played.step).toMatchObject({ value: 3, iterations: 4 });
  });

  test('tools keep working on the last turn', async () => {
    const { step } = await play(
      [program('1'), program('(return (:cents (tool/price {:thing "tea"})))')],
      { maxTurns: 2 },
    );

    expect([step.value, step.usage.toolCalls]).toEqual([300, 1]);
  });

  test('a plan is shown as it stands', async () => {
    const played = await play([program('(step-done 1 "12 found")'), program('(return 1)')], {
      plan: ['fetch users', 'sum up'],
    });

    expect(told(played, 1)).toContain(
      '- [x] 1. fetch users: 12 found\n- [ ] 2. sum up\nTurn 1 of 5: 4 turns left.',
    );
  });
});

describe('Single shot [sub 10]', () => {
  const single: Partial<AgentOptions> = { maxTurns: 1, tools: [], signature: ':int' };

  test.each([
    ['(+ 1 2)', 3],
    ['(return (+ 1 2))', 3],
    ['(count data/rows)', 2],
  ])('%s', async (source, value) => {
    const { step } = await play([program(source)], single, { context: { rows: [1, 2] } });

    expect(step).toMatchObject({ status: 'success', value, iterations: 1 });
    expect(step.usage.modelCalls).toBe(1);
  });

  test.each<readonly [reply: string, reason: string, message: string, details: object | undefined]>(
    [
      [
        'Five.',
        'no_code_found',
        'No program was found. Write one ```clojure block. The model wrote: "Five."',
        undefined,
      ],
      [
        `${program('1')}\n${program('2')}`,
        'multiple_code_blocks',
        `Found 2 programs. Write one block. The model wrote: "${program('1')}\n${program('2')}"`,
        undefined,
      ],
      [
        program('"five"'),
        'validation_error',
        'no answer could be used: (value): expected integer, got string "five"',
        { problems: ['(value): expected integer, got string "five"'], value: 'five' },
      ],
      [
        program('(/ 1 0)'),
        'arithmetic_error',
        'arithmetic_error at line 1, column 1: `/`: division by the integer 0.\n   1 | (/ 1 0)\n     | ^^^^^^^',
        undefined,
      ],
    ],
  )('%j ends the run', async (reply, reason, message, details) => {
    const { step } = await play([reply], single);

    expect(step).toMatchObject({ status: 'error', reason, message: `iteration 1: ${message}` });
    expect(step.details).toEqual(details);
  });
});

describe('The native transport [sub 9]', () => {
  const native: Partial<AgentOptions> = { transport: 'tool_call' };
  const call = (
    source: string,
  ): { readonly name: string; readonly args: { readonly program: string } } => ({
    name: 'lisp_eval',
    args: { program: source },
  });

  test('one tool, one call, one result', async () => {
    const played = await play(
      [
        { content: 'I look.', toolCalls: [call('(println "x")\n(def a 1)')] },
        { toolCalls: [call('(return (inc a))')] },
      ],
      native,
    );

    const [first, second] = played.script.requests;
    expect([first?.tools?.map(({ name }) => name), first?.toolChoice]).toEqual([
      ['lisp_eval'],
      'auto',
    ]);
    expect(second?.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'I look.' },
          {
            type: 'tool_call',
            callId: '1.1',
            tool: 'lisp_eval',
            args: { program: '(println "x")\n(def a 1)' },
          },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: '1.1',
            tool: 'lisp_eval',
            parts: [
              {
                type: 'text',
                text: JSON.stringify({
                  status: 'value',
                  notes: framed('notes', 'x'),
                  memory: { changed: { a: '1' }, stored: ['a'] },
                  feedback: `${PREAMBLE}\nTurn 1 of 5: 4 turns left.`,
                }),
              },
            ],
            isError: false,
          },
        ],
      },
    ]);
    expect(played.step).toMatchObject({ value: 2, iterations: 2 });
  });

  test('text is the final answer', async () => {
    const { step } = await play([{ toolCalls: [call('41')] }, 'It is 42.'], native);

    expect([step.value, step.iterations]).toEqual(['It is 42.', 2]);
  });

  test('text is the answer of an agent that gives text, and a program is held to it too', async () => {
    const agent: Partial<AgentOptions> = { ...native, signature: ':string' };

    const { step } = await play(['It is "42".'], agent);
    const played = await play([{ toolCalls: [call('(return 42)')] }, 'It is 42.'], agent);

    expect([step.value, played.step.value]).toEqual(['It is "42".', 'It is 42.']);
    expect(JSON.stringify(played.script.requests[1]?.messages.at(-1))).toContain(
      '- (value): expected string, got number 42',
    );
    expect(JSON.stringify(played.script.requests[0]?.messages)).not.toContain('As text:');
  });

  test('text is judged by the signature', async () => {
    const played = await play(['It is 42.', '{"total": 42}'], {
      ...native,
      signature: '{total :int}',
    });

    expect(told(played, 1)).toBe(
      'The answer could not be used.\n- There is no JSON in the reply.\nAnswer again.\nTurn 1 of 5: 4 turns left.',
    );
    expect(played.step.value).toEqual({ total: 42 });
  });

  const once = 'Error: call lisp_eval once per reply. Nothing was run.';

  test.each<readonly [name: string, reply: ScriptedReply, results: readonly string[]]>([
    ['several calls', { toolCalls: [call('1'), call('2')] }, [once, once]],
    ['another tool', { toolCalls: [{ name: 'price', args: { thing: 'tea' } }] }, [once]],
    ['mixed', { toolCalls: [call('1'), { name: 'price', args: {} }] }, [once, once]],
    [
      'a call beside a fenced program',
      { content: program('(return 1)'), toolCalls: [call('2')] },
      [once],
    ],
    [
      'no program',
      { toolCalls: [{ name: 'lisp_eval', args: { code: '1' } }] },
      ['Error: the arguments do not fit lisp_eval.\n- program: missing'],
    ],
  ])('%s: every call has its result, and nothing runs', async (_name, reply, results) => {
    const played = await play([reply, { toolCalls: [call('(return 5)')] }], native);

    const messages = played.script.requests[1]?.messages.slice(2) ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(
      messages[1]?.parts.map((part) =>
        part.type === 'tool_result'
          ? part.parts.map((it) => (it.type === 'text' ? it.text : ''))
          : [],
      ),
    ).toEqual(results.map((text) => [text]));
    expect(told(played, 1)).toBe('Turn 1 of 5: 4 turns left.');
    expect(counters(played.step, 'code_executions', 'tool_calls')).toEqual([1, 0]);
    expect(played.step).toMatchObject({ value: 5, iterations: 2 });
  });

  test('a fenced program without a call', async () => {
    const played = await play([program('(return 1)'), { toolCalls: [call('(return 5)')] }], native);

    expect(told(played, 1)).toBe(`${once}\nTurn 1 of 5: 4 turns left.`);
    expect(played.step.value).toBe(5);
  });

  test('a fence inside the argument is taken off', async () => {
    const { step } = await play([{ toolCalls: [call(program('(return 5)'))] }], native);

    expect(step.value).toBe(5);
  });
});

describe('What a request of lisp carries [sub 8]', () => {
  test('nothing but messages, and how far they can be cached', async () => {
    const { script } = await play([program('1'), program('(return 1)')], { askUser: true });

    for (const request of script.requests) {
      expect(Object.keys(request).toSorted()).toEqual([
        'agent',
        'attempt',
        'cacheUpTo',
        'iteration',
        'messages',
        'mode',
        'runId',
        'settings',
      ]);
      expect([request.mode, request.cacheUpTo]).toEqual(['lisp', request.messages.length]);
    }
    expect(textOf(script.requests[0]?.messages[1] ?? { role: 'user', parts: [] })).toContain(
      'tool/ask_user(question string, options [any]?, free bool?, default any?, timeout-ms int?, details any?)',
    );
  });

  test('a transcript of native calls that was cut anywhere is paired [sub 9]', async () => {
    const agent = defineAgent({ name: 'a', mode: 'lisp', model: 'm', transport: 'tool_call' });
    const loaded = compileAgent(agent, new Map([['m', { id: 'm', model: async () => '' }]]));
    if (loaded.kind === 'problems') throw new Error('Expected an agent.');
    const head = { spec: loaded.spec, task: { text: 'x' } };
    const options = { runId: 'r', iteration: 3, attempt: 1, lastTurn: false };
    const turn = (id: string): readonly Message[] => [
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', callId: id, tool: 'lisp_eval', args: { program: '1' } }],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool_result', callId: id, tool: 'lisp_eval', parts: [], isError: false }],
      },
      { role: 'user', parts: [{ type: 'text', text: 'and?' }] },
    ];
    const messages = ['1.1', '2.1', '3.1'].flatMap(turn);

    for (let from = 0; from < messages.length; from++) {
      for (let until = from; until <= messages.length; until++) {
        const request = lispMode.buildRequest(head, messages.slice(from, until), options);
        const parts = request.messages.flatMap((message) => message.parts);
        const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
        const results = parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []));
        expect(results).toEqual(calls);
      }
    }
  });
});

describe('Hidden values [sub 19]', () => {
  test('programs and the caller get them, no request has them', async () => {
    const secret = 'SENTINEL-0123456789';
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      parameters: z.object({ token: z.string() }),
      retry: { attempts: 1 },
      execute: ({ token }) => {
        if (token !== secret) throw new ToolError('wrong');
        return { ok: true };
      },
    });
    const played = await play(
      [
        program('(println data/_token (tool/login {:token data/_token}))\n(def copy data/_token)'),
        program('data/_token'),
        program('(tool/login {:token (str data/_token "!")})'),
        program('(count data/_token data/_token)'),
        program('(return {:_ids [copy] :n "x"})'),
        program('(return {:_ids [copy] :n 1})'),
      ],
      { tools: [login], signature: '{_ids [:string], n :int}', maxTurns: 8 },
      { context: { _token: secret, shop: 'TechGear' } },
    );

    expect(played.step.value).toEqual({ _ids: [secret], n: 1 });
    expect(JSON.stringify(played.script.requests)).not.toContain('SENTINEL');
    expect(told(played, 1)).toContain(framed('notes', '<hidden> {"ok" true}'));
  });
});

describe('The memory of another run', () => {
  test('its definitions are told, used and handed on; without it there is none', async () => {
    const first = await play([program('(def rate 0.15)\n(defn tax [x] (* x rate))\n(return 1)')]);
    const given = first.step.memory;

    const second = await play(
      [program('(return (tax 100))')],
      {},
      { memory: given, context: { _pin: 'SENTINEL-1' } },
    );
    const third = await play([program('(rate)'), program('(return 1)')]);

    expect(textOf(second.script.requests[0]?.messages[1] ?? { role: 'user', parts: [] })).toContain(
      ';; memory\nrate = 0.15\ntax = #fn[tax]\n;; answer',
    );
    expect(second.step.value).toBe(15);
    expect(second.step.memory).toMatchObject({ bindings: given['bindings' as keyof typeof given] });
    expect(told(third, 1)).toContain('`rate` is not defined.');
  });
});

describe('A turn of lisp that is left in its middle', () => {
  const asking = program('(def n 2)\n(return (map (fn [q] (ask q)) ["one?" "two?"]))');

  test('a question waits, the run is handed over, and the program goes on', async () => {
    const script = scriptedModel([asking]);
    const agent = defineAgent({ name: 'asker', mode: 'lisp', model: script.model, askUser: true });
    const run = startInMemory({ agent, task: 'Ask.', handoverDue: () => true });

    const first = await run.resultOrPending();
    if (first.kind === 'pending') run.answer(first.pending[0]?.id ?? '', 'a');
    const second = await run.resultOrPending();
    if (second.kind === 'pending') run.answer(second.pending[0]?.id ?? '', 'b');

    const step = await run.result;
    script.assertDone();
    expect([first.kind, second.kind, step.status, step.value]).toEqual([
      'pending',
      'pending',
      'success',
      ['a', 'b'],
    ]);
    expect(run.state.link).toBeGreaterThan(1);
    expect(counters(step, 'model_calls', 'questions', 'code_executions')).toEqual([1, 2, 1]);
  });

  test('a cancel ends it, with a Step', async () => {
    const script = scriptedModel([asking]);
    const agent = defineAgent({ name: 'asker', mode: 'lisp', model: script.model, askUser: true });
    const run = startInMemory({ agent, task: 'Ask.' });

    await run.resultOrPending();
    run.cancel('enough');

    expect(await run.result).toMatchObject({
      status: 'canceled',
      message: 'enough',
      iterations: 1,
    });
  });

  test('an interrupt ends the program; the model sees what it did, then the input', async () => {
    const script = scriptedModel([asking, program('(return 1)')]);
    const agent = defineAgent({ name: 'asker', mode: 'lisp', model: script.model, askUser: true });
    const run = startInMemory({ agent, task: 'Ask.' });

    await run.resultOrPending();
    run.send('Do not ask.', { kind: 'interrupt' });
    const step = await run.result;

    const messages = script.requests[1]?.messages ?? [];
    expect(messages.slice(2).map(({ role }) => role)).toEqual(['assistant', 'user', 'user']);
    expect(textOf(messages[2] ?? { role: 'user', parts: [] })).toBe(asking);
    expect(textOf(messages.at(-1) ?? { role: 'user', parts: [] })).toBe('Do not ask.');
    expect(step).toMatchObject({ status: 'success', value: 1, iterations: 2 });
  });

  test('calls beyond a limit end the run, not the program alone', async () => {
    const { step } = await play(
      [program('(map (fn [t] (tool/price {:thing t})) ["a" "b" "c"])')],
      {},
      { limits: { toolCalls: 2 } },
    );

    expect([step.status, step.reason, step.usage.toolCalls]).toEqual([
      'limit_exceeded',
      'agent:tool_calls',
      2,
    ]);
  });

  test.each<readonly [strategy: 'strict' | 'rollback', reason: string, iterations: number]>([
    ['strict', 'memory_limit_exceeded', 1],
    ['rollback', 'answered', 2],
  ])('too many definitions, %s', async (memoryStrategy, reason, iterations) => {
    const replies = [program('(def big (range 500))'), program('(return 1)')];
    const { step } = await play(replies.slice(0, iterations), {
      memoryLimitBytes: 200,
      memoryStrategy,
    });

    expect([step.reason, step.iterations]).toEqual([reason, iterations]);
  });

  test('compaction leaves the definitions alone', async () => {
    const played = await play(
      [
        program('(def a 1)'),
        program('(def b 2)'),
        program('(println "x")'),
        program('(return (+ a b))'),
      ],
      {
        compaction: { triggers: [counter('agent:iterations', 1)], strategies: [slidingWindow(1)] },
      },
    );

    expect(played.script.requests.map(({ messages }) => messages.length)).toEqual([2, 4, 4, 4]);
    expect(played.step.value).toBe(3);
  });
});

describe('Hidden fields of a child that programs print [sub 19]', () => {
  const SECRET = 'tok-9f3a77';
  const login = (): AgentDefinition =>
    defineAgent({
      name: 'login',
      mode: 'lisp',
      model: scriptedModel([program(`(return {:user "ann" :_token "${SECRET}"})`)]).model,
      signature: '{user :string, _token :string}',
    });
  const sources = [
    '(def t (:_token (tool/login {:task "in"})))\n(println "got" t)\n(ask "Go on?")',
    '(str "again " t)',
    '(return {:ok (count t)})',
  ];
  const heard = [
    [PREAMBLE, framed('notes', 'got <hidden>'), 't = "<hidden>"', 'Turn 1 of 5: 4 turns left.'],
    [PREAMBLE, framed('result', '"again <hidden>"'), 'Stored: t', 'Turn 2 of 5: 3 turns left.'],
  ].map((lines) => lines.join('\n'));

  test.each([
    ['in one link', false],
    ['over a hand-over in the middle of the program', true],
  ])('stay hidden in this program and the next ones, %s', async (_, hands) => {
    const script = scriptedModel(sources.map(program));
    const agent = defineAgent({
      name: 'buyer',
      mode: 'lisp',
      model: { id: 'm', model: script.model },
      tools: [agentTool({ agent: login() })],
      askUser: true,
    });
    const run = startInMemory({ agent, task: 'Buy.', handoverDue: () => hands });
    await run.resultOrPending();
    run.answer('q1', 'yes');
    const step = await run.result;

    expect([step.value, run.state.link > 1]).toEqual([{ ok: SECRET.length }, hands]);
    expect(script.requests.slice(1).map(({ messages }) => messages.map(textOf).at(-1))).toEqual(
      heard,
    );
    expect(JSON.stringify(script.requests)).not.toContain(SECRET);
  });
});

test('What a program asks a model has no hidden value in it [sub 19]', async () => {
  const [KEY, TOKEN] = ['key-81c2d4', 'tok-9f3a77'];
  const login = defineAgent({
    name: 'login',
    mode: 'lisp',
    model: scriptedModel([program(`(return {:_token "${TOKEN}"})`)]).model,
    signature: '{_token :string}',
  });
  const { script, step } = await play(
    [
      program(
        `(def t (:_token (tool/login {:task "in"})))\n(tool/llm_query {:prompt (str data/_key " and " t) :more t})`,
      ),
      'Fine.',
      program('(return (= data/_key (:key {:key data/_key})))'),
    ],
    { tools: [agentTool({ agent: login })], llmQuery: true },
    { context: { _key: KEY } },
  );

  expect(step.value).toBe(true);
  expect(script.requests[1]?.messages.map(textOf)).toEqual([
    '<hidden> and <hidden>\n# Context\n<data name="more"><hidden></data>',
  ]);
  expect(JSON.stringify(script.requests)).not.toMatch(new RegExp(`${KEY}|${TOKEN}`));
});
