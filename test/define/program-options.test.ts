import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { compileAgent } from '../../src/registry/compile-agent.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { textSection } from '../../src/define/agent/reply-layout.ts';
import { counter, slidingWindow } from '../../src/define/agent/define-compaction.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { searchTool } from '../support/runs.ts';

const define = (options: object): ReturnType<typeof defineAgent> =>
  defineAgent({ name: 'tester', model: 'm', ...options } as AgentOptions);

/** The problems of a definition, without the name of the agent in front of each. */
function problemsOf(options: object): readonly (readonly [code: string, message: string])[] {
  try {
    define(options);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.problems.map(({ code, message }) => [code, message] as const);
  }
}

const even = defineValidator({ name: 'even', validate: () => ({ accepted: true }) });

describe('The specification of an agent that writes programs', () => {
  test('defaults', () => {
    expect(define({ mode: 'lisp' }).spec).toMatchObject({
      mode: 'lisp',
      react: null,
      program: {
        limits: {},
        memoryLimitBytes: 1_048_576,
        memoryStrategy: 'strict',
        sizes: { feedbackChars: 512, resultChars: 250, sampleItems: 3, sampleChars: 80 },
        lisp: {
          maxTurns: 5,
          retryTurns: 0,
          completion: 'implicit',
          transport: 'content',
          thinking: false,
          plan: [],
          journal: false,
        },
      },
    });
  });

  test('all options, under the old name of the mode', () => {
    const { spec, maxTurns } = define({
      mode: 'ptc_lisp',
      maxTurns: 2,
      retryTurns: 3,
      completion: 'explicit',
      transport: 'tool_call',
      thinking: true,
      plan: ['look'],
      journal: true,
      program: { fuel: 5_000 },
      memoryLimitBytes: 100,
      memoryStrategy: 'rollback',
      sizes: { feedbackChars: 10 },
      compaction: { triggers: [counter('agent:iterations', 5)], strategies: [slidingWindow(2)] },
      askUser: true,
      validators: [even],
      signature: '() -> {_ids [:int]}',
    });

    expect([spec.mode, maxTurns, spec.program]).toEqual([
      'lisp',
      5,
      {
        limits: { fuel: 5_000 },
        memoryLimitBytes: 100,
        memoryStrategy: 'rollback',
        sizes: { feedbackChars: 10, resultChars: 250, sampleItems: 3, sampleChars: 80 },
        lisp: {
          maxTurns: 2,
          retryTurns: 3,
          completion: 'explicit',
          transport: 'tool_call',
          thinking: true,
          plan: ['look'],
          journal: true,
        },
      },
    ]);
  });

  test('turns of work and of repair are the limit on iterations, and mistakes have no others', () => {
    const compiled = compileAgent(
      define({ mode: 'lisp', retryTurns: 2 }),
      new Map([['m', { id: 'm', model: () => Promise.resolve('') }]]),
    );

    expect(compiled.kind === 'agent' ? compiled.spec.limits : []).toEqual([
      { kind: 'exact', key: '$self:agent:iterations', max: 7 },
      { kind: 'exact', key: 'agent:format_parse_error_consecutive', max: 3 },
      { kind: 'exact', key: 'agent:section_parse_error_consecutive', max: 3 },
      { kind: 'exact', key: 'agent:tool_calls_error_consecutive', max: 3 },
      { kind: 'exact', key: 'agent:repeated_calls', max: 7 },
      { kind: 'exact', key: 'agent:depth', max: 5, onReach: 'refuse' },
      { kind: 'exact', key: 'agent:children', max: 100, onReach: 'refuse' },
    ]);
  });

  test('programs beside calls', () => {
    for (const mode of ['react', 'chat']) {
      expect(define({ mode, programs: true, sizes: { resultChars: 9 } }).spec.program).toEqual({
        limits: {},
        memoryLimitBytes: 1_048_576,
        memoryStrategy: 'strict',
        sizes: { feedbackChars: 512, resultChars: 9, sampleItems: 3, sampleChars: 80 },
      });
      expect(define({ mode, programs: false }).spec.program).toBeUndefined();
    }
  });

  test('text is checked, as a program may give anything', () => {
    expect(define({ mode: 'lisp', signature: ':string' }).spec.answer).toMatchObject({
      kind: 'json',
      output: { kind: 'string' },
    });
  });
});

const belongs = (field: string, mode: string, got: string, to: string): string =>
  `Expected no \`${field}\` in mode \`${mode}\`, got ${got}. Remove it, it belongs to ${to}.`;

describe('What modes with programs refuse [sub 1]', () => {
  test.each<readonly [name: string, options: object, problems: ReturnType<typeof problemsOf>]>([
    ...(['react', 'chat', 'json', 'text'] as const).flatMap((mode) =>
      (
        [
          ['retryTurns', 1, '1'],
          ['completion', 'explicit', '"explicit"'],
          ['transport', 'tool_call', '"tool_call"'],
          ['plan', ['a'], '["a"]'],
          ['journal', true, 'true'],
        ] as const
      ).map(
        ([field, value, got]) =>
          [
            `${field} in ${mode}`,
            { mode, [field]: value, ...(mode === 'json' ? { signature: ':int' } : {}) },
            [['mode_option', belongs(field, mode, got, 'mode `lisp`')]],
          ] as const,
      ),
    ),
    [
      'programs in lisp, which always has them',
      { mode: 'lisp', programs: true },
      [['mode_option', belongs('programs', 'lisp', 'true', 'the modes `react` and `chat`')]],
    ],
    [
      'programs in text',
      { mode: 'text', programs: true },
      [['mode_option', belongs('programs', 'text', 'true', 'the modes `react` and `chat`')]],
    ],
    [
      'limits of programs without programs',
      { mode: 'chat', program: { fuel: 1 } },
      [
        [
          'mode_option',
          'Expected no `program` in mode `chat` without programs, got {"fuel":1}. Remove it, or add `programs: true`.',
        ],
      ],
    ],
    [
      'sizes in json',
      { mode: 'json', signature: ':int', sizes: {} },
      [['mode_option', belongs('sizes', 'json', '{}', 'the modes `react`, `chat` and `lisp`')]],
    ],
    [
      'a search in lisp',
      { mode: 'lisp', tools: [searchTool()], toolSearch: {} },
      [['mode_option', belongs('toolSearch', 'lisp', '{}', 'the modes `react` and `chat`')]],
    ],
    [
      'sections in lisp',
      { mode: 'lisp', sections: [textSection({ name: 'notes' })] },
      [['mode_option', belongs('sections', 'lisp', 'a section', 'mode `react`')]],
    ],
    [
      'a section in the template',
      { mode: 'lisp', prompt: 'Sum {{#items}}x{{/items}}' },
      [
        [
          'section_in_lisp',
          'Expected no sections in `prompt` of mode `lisp`, got {{#items}}. Name the data, the program walks it itself.',
        ],
      ],
    ],
    ...[
      ['retryTurns', -1, 'from 0 up'],
      ['maxTurns', 0, 'from 1 up'],
      ['memoryLimitBytes', 0, 'from 1 up'],
    ].map(
      ([field, value, range]) =>
        [
          `${String(field)} out of range`,
          { mode: 'lisp', [String(field)]: value },
          [
            [
              'number',
              `Expected \`${String(field)}\` ${String(range)}, got ${String(value)}. Change it.`,
            ],
          ],
        ] as const,
    ),
    [
      'limits out of range, and one that nobody knows',
      { mode: 'lisp', program: { fuel: 3_000_000, depth: 0, fule: 1 } },
      [
        ['unknown_option', 'Expected an option of `program`, got `fule`. Did you mean `fuel`?'],
        ['number', 'Expected `program.fuel` from 1 to 2000000, got 3000000. Change it.'],
        ['number', 'Expected `program.depth` from 1 to 5000, got 0. Change it.'],
      ],
    ],
    [
      'sizes that are no numbers',
      { mode: 'lisp', sizes: { sampleItems: 'many' } },
      [['number', 'Expected `sizes.sampleItems` from 1 up, got "many". Change it.']],
    ],
    [
      'limits that are no record',
      { mode: 'lisp', program: 5 },
      [
        [
          'agent_option',
          'Expected `program` to be numbers by name, got 5. Write it as { fuel: 1000 }.',
        ],
      ],
    ],
    ...[
      ['completion', 'maybe', 'implicit, explicit'],
      ['transport', 'mail', 'content, tool_call'],
      ['memoryStrategy', 'loose', 'strict, rollback'],
      ['thinking', 'Think hard.', 'true, false'],
      ['journal', 1, 'true, false'],
    ].map(
      ([field, value, choices]) =>
        [
          `${String(field)} that is no choice`,
          { mode: 'lisp', [String(field)]: value },
          [
            [
              'agent_option',
              `Expected \`${String(field)}\` to be one of ${String(choices)}, got ${JSON.stringify(value)}. Choose one of them.`,
            ],
          ],
        ] as const,
    ),
    [
      'programs that are no choice',
      { mode: 'chat', programs: 'yes' },
      [
        [
          'agent_option',
          'Expected `programs` to be one of true, false, got "yes". Choose one of them.',
        ],
      ],
    ],
    [
      'a plan that is no list of texts',
      { mode: 'lisp', plan: ['a', ''] },
      [
        [
          'agent_option',
          'Expected `plan` to be a list of texts, got ["a",""]. Write a text for each step.',
        ],
      ],
    ],
    [
      'two faults',
      { mode: 'lisp', retryTurns: -1, completion: 'x' },
      [
        [
          'agent_option',
          'Expected `completion` to be one of implicit, explicit, got "x". Choose one of them.',
        ],
        ['number', 'Expected `retryTurns` from 0 up, got -1. Change it.'],
      ],
    ],
  ])('%s', (_name, options, problems) => {
    expect(problemsOf(options)).toEqual(problems);
  });

  test.each(['lisp_eval', 'lisp-eval', 'llm_query', 'return', 'fail'])(
    'a tool named %s',
    (name) => {
      expect(() => defineTool({ name, description: 'x', execute: () => 1 })).toThrow(
        `Expected a free tool name, got the built-in \`${name}\`. Rename it.`,
      );
    },
  );

  test('a section of react that is named as the one of programs', () => {
    const sections = [textSection({ name: 'program' })];
    const tools = [searchTool()];

    expect(problemsOf({ mode: 'react', sections, tools, programs: true })).toEqual([
      ['duplicate_section', expect.stringContaining('`program`')],
    ]);
    expect(problemsOf({ mode: 'react', sections, tools })).toEqual([]);
  });
});
