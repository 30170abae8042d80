import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { Part } from '../../../src/core/base/message.ts';
import { PREAMBLE } from '../../../src/core/program-text/feedback.ts';
import type { ScriptedModel, ScriptedReply } from '../../../src/testing/scripted-model.ts';
import { renderRequest } from '../../support/render-request.ts';
import { act, bodiesOf, startRun, type RunOptions } from '../../support/runs.ts';

interface Played {
  readonly step: Step;
  readonly script: ScriptedModel;
  readonly events: readonly AgentEvent[];
}

async function play(
  replies: readonly ScriptedReply[],
  agent: Partial<AgentOptions> = {},
  options: RunOptions = {},
): Promise<Played> {
  const started = startRun(replies, { ...options, agent: { programs: true, ...agent } });
  const step = await started.run.result;
  started.script.assertDone();
  return { step, script: started.script, events: started.run.events };
}

const counters = (step: Step, ...keys: readonly string[]): readonly number[] =>
  keys.map((key) => step.stats.counters[`agent:${key}`] ?? 0);

/** What the model was told before request `index`, without the marker behind it. */
function told({ script }: Played, index: number): string {
  return textOf(script.requests[index]?.messages.at(-2) ?? { role: 'user', parts: [] });
}

const block = (source: string): string => `<program>\n${source}\n</program>`;
const answer = '<answer>done</answer>';
const observed = (text: string): string =>
  `<observation>\n<program>\n${text}\n</program>\n</observation>`;
const result = (text: string): string =>
  `${PREAMBLE}\n<untrusted source="result">${text}</untrusted>`;

describe('[row 29] Programs in react', () => {
  test('the prompt', async () => {
    const { script } = await play([answer], { thinking: false, instructions: 'You look.' });

    const [request] = script.requests;
    await expect(request === undefined ? '' : renderRequest(request)).toMatchFileSnapshot(
      '../../golden/prompts/react-programs.txt',
    );
  });

  test('a program runs with the tools of the agent, and its feedback is the observation', async () => {
    const played = await play(
      [
        block('(def hits (map (fn [q] (tool/search {:query q})) ["a" "b"]))\n(count hits)'),
        block('(println (first hits) data/n)'),
        answer,
      ],
      {},
      { context: { n: 7 } },
    );

    expect(told(played, 1)).toBe(observed(`${result('2')}\nhits = ["hits for a" "hits for b"]`));
    expect(told(played, 2)).toBe(
      observed(`${PREAMBLE}\n<untrusted source="notes">hits for a 7</untrusted>\nStored: hits`),
    );
    expect(played.step).toMatchObject({ value: 'done', iterations: 3 });
    expect(
      counters(
        played.step,
        'code_executions',
        'code_executions_error',
        'tool_calls',
        'tool_calls:search',
      ),
    ).toEqual([2, 0, 2, 2]);
    expect(played.step.stats.counters['agent:program_steps']).toBeGreaterThan(0);
    expect(bodiesOf(played.events, 'agent:turn:read').map(({ kind }) => kind)).toEqual([
      'program',
      'program',
      'answer',
    ]);
  });

  test('a program in a fence, in Markdown', async () => {
    const played = await play(['# program\n```clojure\n(+ 1 2)\n```', '# answer\ndone'], {
      format: 'markdown',
    });

    expect(told(played, 1)).toBe(`# observation\n## program\n${result('3')}`);
    expect(played.step.value).toBe('done');
  });

  test('`return` ends the program alone, and `fail` is an error', async () => {
    const played = await play([
      block('(def a 1)\n(return {:n 5})'),
      block('(fail "no")'),
      block('a'),
      answer,
    ]);

    expect(told(played, 1)).toBe(observed(`${result('{:n 5}')}\na = 1`));
    expect(told(played, 2)).toContain(
      '<untrusted source="error">The program failed: "no"<\\/untrusted>'.replace('<\\/', '</'),
    );
    expect(told(played, 3)).toContain(result('1'));
    expect(played.step).toMatchObject({ status: 'success', iterations: 4 });
  });

  test('limits hold inside of it', async () => {
    const search = '(map (fn [q] (tool/search {:query q})) ["a" "b" "c"])';
    const { step } = await play([block(search)], {}, { limits: { toolCalls: 2 } });

    expect([step.status, step.reason, step.usage.toolCalls]).toEqual([
      'limit_exceeded',
      'agent:tool_calls',
      2,
    ]);
  });

  test('fuel ends a program, and the limit on steps the run', async () => {
    const endless = block('(reduce + (range 100000))');
    const played = await play([endless, answer], { program: { fuel: 1_000 } });
    const { step } = await play([endless], {}, { limits: { programSteps: 2_000 } });

    expect(told(played, 1)).toContain('fuel_exceeded at line 1');
    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:program_steps']);
  });

  test('literal arguments are checked before the first effect', async () => {
    const played = await play([
      block('(tool/search {:query "a"})\n(tool/search {:query 5})\n(tool/search {})'),
      answer,
    ]);

    const text = told(played, 1);
    expect(text).toContain('2 problems were found before the program ran. Nothing was executed.');
    expect(counters(played.step, 'tool_calls', 'code_executions_error')).toEqual([0, 1]);
  });

  test.each([
    [
      'an action beside it',
      `${act('x')}${block('1')}`,
      'Write either an action or a program in one step, not both. Nothing was run.',
      'action_and_program',
    ],
    [
      'an action that cannot be read beside it',
      `<action>\n- 5\n</action>${block('1')}`,
      'Write either an action or a program in one step, not both. Nothing was run.',
      'action_and_program',
    ],
    [
      'several of them',
      `${block('1')}${block('2')}`,
      'Write one program per step. Nothing was run.',
      'several_programs',
    ],
    [
      'several in one section',
      block('```clojure\n1\n```\n```clojure\n2\n```'),
      'Write one program per step. Nothing was run.',
      'several_programs',
    ],
  ])('%s: nothing runs', async (_name, reply, text, code) => {
    const played = await play([reply, answer]);

    expect(told(played, 1)).toBe(`<observation>\n<error>\n${text}\n</error>\n</observation>`);
    expect(bodiesOf(played.events, 'agent:parse_error')).toMatchObject([
      { family: 'toolchain', problems: [{ code }] },
    ]);
    expect(counters(played.step, 'code_executions', 'tool_calls')).toEqual([0, 0]);
  });

  test('beside an answer the program runs, and the answer is dropped', async () => {
    const played = await play([`${block('5')}${answer}`, '<answer>five</answer>']);

    expect(told(played, 1)).toBe(observed(result('5')));
    expect(bodiesOf(played.events, 'agent:turn:read')[0]).toMatchObject({ discardedAnswer: true });
    expect(played.step.value).toBe('five');
  });

  test('with `precedence: answer` the program runs when the answer is not accepted', async () => {
    const agent: Partial<AgentOptions> = { precedence: 'answer', signature: '{n :int}' };
    const played = await play(
      [`${block('5')}<answer>x</answer>`, `${block('6')}<answer>{"n": 6}</answer>`],
      agent,
    );

    expect(told(played, 1)).toBe(
      [
        '<observation>',
        '<error>',
        'The answer could not be used.',
        '- There is no JSON in the reply.',
        'Write the answer section again.',
        '</error>',
        '<program>',
        result('5'),
        '</program>',
        '</observation>',
      ].join('\n'),
    );
    expect(played.step.value).toEqual({ n: 6 });
    expect(counters(played.step, 'code_executions')).toEqual([1]);
  });

  test('three programs that fail are still repaired, the fourth in a row ends the run', async () => {
    const bad = block('(nope)');
    const { step } = await play([bad, bad, bad, bad]);

    expect([step.status, step.reason, step.iterations]).toEqual([
      'limit_exceeded',
      'agent:code_executions_error_consecutive',
      4,
    ]);
  });

  test('an agent without `programs` knows no such section', async () => {
    const { script } = await play([answer], { programs: false });

    expect(JSON.stringify(script.requests[0])).not.toContain('<program>');
  });
});

describe('[row 29] Programs in chat [sub 9]', () => {
  const chat: Partial<AgentOptions> = { mode: 'chat' };
  const lispEval = (source: string): { name: string; args: { program: string } } => ({
    name: 'lisp_eval',
    args: { program: source },
  });
  const search = { name: 'search', args: { query: 'x' } };

  function resultsOf({ script }: Played, index: number): readonly Part[] {
    const last = script.requests[index]?.messages.findLast(({ role }) => role === 'tool');
    return last?.parts ?? [];
  }

  test('the tool stands beside the others, and its result is the feedback', async () => {
    const played = await play(
      [
        { content: 'I count.', toolCalls: [lispEval('(count (tool/search {:query "abc"}))')] },
        { toolCalls: [search] },
        'Twelve.',
      ],
      chat,
    );

    expect(played.script.requests.map(({ tools = [] }) => tools.map(({ name }) => name))).toEqual(
      Array.from({ length: 3 }, () => ['search', 'lisp_eval']),
    );
    expect(resultsOf(played, 1)).toEqual([
      {
        type: 'tool_result',
        callId: '1.1',
        tool: 'lisp_eval',
        parts: [{ type: 'text', text: result('12') }],
        isError: false,
      },
    ]);
    expect(played.step.value).toBe('Twelve.');
    expect(counters(played.step, 'code_executions', 'tool_calls', 'tool_calls:lisp_eval')).toEqual([
      1, 2, 0,
    ]);
  });

  test.each<
    readonly [name: string, calls: readonly { name: string; args: object }[], text: string]
  >([
    [
      'beside a call',
      [lispEval('1'), search],
      'Write either an action or a program in one step, not both. Nothing was run.',
    ],
    [
      'several of them',
      [lispEval('1'), lispEval('2')],
      'Write one program per step. Nothing was run.',
    ],
    [
      'without a program',
      [{ name: 'lisp_eval', args: { program: 5 } }],
      'the arguments do not fit lisp_eval.\n- program: expected string, got number',
    ],
    ['with an empty one', [lispEval(' ')], 'the program is empty.'],
  ])('%s: every call has its result, and nothing runs', async (_name, toolCalls, text) => {
    const played = await play(
      [{ toolCalls: toolCalls as { name: string; args: { program: string } }[] }, 'Done.'],
      chat,
    );

    expect(
      resultsOf(played, 1).map((part) =>
        part.type === 'tool_result'
          ? [part.isError, textOf({ role: 'tool', parts: part.parts })]
          : [],
      ),
    ).toEqual(toolCalls.map(() => [true, `Error: ${text}`]));
    expect(counters(played.step, 'code_executions', 'tool_calls')).toEqual([0, 0]);
    expect(played.step.value).toBe('Done.');
  });

  test('without tools of its own an agent still has programs', async () => {
    const played = await play([{ toolCalls: [lispEval('(* 6 7)')] }, '42'], { ...chat, tools: [] });

    expect(resultsOf(played, 1)).toMatchObject([{ parts: [{ text: result('42') }] }]);
    expect(played.step.value).toBe('42');
  });

  test('on the last turn no program is asked for', async () => {
    const { script } = await play(['x'], { ...chat, maxTurns: 1 });

    expect(script.requests[0]?.toolChoice).toBe('none');
  });
});
