import { describe, expect, it, test } from 'vitest';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { readerAgent } from '../support/fan-outs.ts';
import { jsonStage, stage } from '../support/pipelines.ts';
import { problemsOf } from '../support/usage-problems.ts';

const reader = readerAgent();

/** Parts may be what the types forbid. */
const anything = fanOut as (...parts: readonly unknown[]) => unknown;

describe('what a fan-out is refused for', () => {
  test.each<{ name: string; parts: readonly unknown[]; code: string; message: string }>([
    {
      name: 'its name',
      parts: ['9 lives', reader],
      code: 'agent_name',
      message:
        'Expected an agent name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got `9 lives`. Rename it.',
    },
    {
      name: 'no agent',
      parts: ['f'],
      code: 'fan_out',
      message:
        "Expected an agent, as a definition or by its name, got none. Write it as fanOut('name', agent).",
    },
    {
      name: 'a list of agents',
      parts: ['f', ['a']],
      code: 'fan_out',
      message:
        'Expected an agent, as a definition or by its name, got ["a"]. Write it as fanOut(\'name\', agent).',
    },
    {
      name: 'an empty name of an agent',
      parts: ['f', ''],
      code: 'fan_out',
      message:
        'Expected an agent, as a definition or by its name, got "". Write it as fanOut(\'name\', agent).',
    },
    {
      name: 'the fan-out itself',
      parts: ['f', 'f'],
      code: 'fan_out',
      message: 'Expected another agent, got `f`, the fan-out itself. It would never end.',
    },
    ...[1, 201, 2.5, '30'].map((batch) => ({
      name: `a batch of ${JSON.stringify(batch)}`,
      parts: ['f', reader, { batch }],
      code: 'fan_out',
      message: `Expected \`batch\` to be a whole number from 2 to 200, got ${JSON.stringify(batch)}. Change it.`,
    })),
    {
      name: 'what failures mean',
      parts: ['f', reader, { onFailure: null }],
      code: 'fan_out',
      message: 'Expected `onFailure` to be one of end, null, got null. Change it.',
    },
    {
      name: 'a description',
      parts: ['f', reader, { description: ' ' }],
      code: 'fan_out',
      message: 'Expected `description` to be a text, got " ". Change it.',
    },
    {
      name: 'limits',
      parts: ['f', reader, { limits: 7 }],
      code: 'limit_key',
      message:
        "Expected `limits` to be 'unlimited' or an object, got 7. Write it as `{ iterations: 20 }`.",
    },
    {
      name: 'callbacks',
      parts: ['f', reader, { onEvent: 'https://x.example' }],
      code: 'callback',
      message:
        'Expected `onEvent` to be { url, events?, content? }, got "https://x.example". Change it.',
    },
    {
      name: 'an unknown option',
      parts: ['f', reader, { onFailiure: 'null' }],
      code: 'unknown_option',
      message: 'Expected an option of a fan-out, got `onFailiure`. Did you mean `onFailure`?',
    },
    {
      name: 'options that are none',
      parts: ['f', reader, 30],
      code: 'unknown_option',
      message:
        'Expected the options of a fan-out to be an object, got 30. Write them as { batch: 30 }.',
    },
  ])('$name', ({ parts, code, message }) => {
    expect(problemsOf(() => anything(...parts))).toEqual([{ code, message }]);
  });

  it('says all at once, a line each', () => {
    expect(() => anything('f', 7, { batch: 0, limits: { tokens: 5 } })).toThrow(
      /^Fan-out `f`: Expected an agent, .* got 7\..*\nFan-out `f`: Expected `batch` .*\nFan-out `f`: Expected the names of limits /,
    );
  });
});

describe('a fan-out on a worker', () => {
  it('brings its agent along, and what that starts', () => {
    const agents = [fanOut('readers', pipeline('line', [stage('a'), reader]))];

    expect([...createRegistry({ agents }).agents.keys()]).toEqual([
      'readers',
      'line',
      'a',
      'reader',
    ]);
  });

  it('needs the agent that it names, and prices below a limit on cost', () => {
    const free = readerAgent('x', { model: { id: 'free', model: async () => 'x' } });

    expect(problemsOf(() => createRegistry({ agents: [fanOut('f', 'raeder'), reader] }))).toEqual([
      {
        code: 'unknown_agent',
        message:
          'Fan-out `f`: Expected the agent of its items among those of the worker (f, reader), got `raeder`. Did you mean `reader`?',
      },
    ]);
    expect(
      problemsOf(() => createRegistry({ agents: [fanOut('f', free, { limits: { costUsd: 1 } })] })),
    ).toMatchObject([{ code: 'cost_without_price' }]);
  });

  test.each([
    { name: 'an agent by its name', agent: 'x', signature: '(items [:any]) -> [:any]' },
    { name: 'an agent without inputs', agent: reader, signature: '(items [:any]) -> [:any]' },
    {
      name: 'an agent that takes its task alone',
      agent: jsonStage('x', '(task :string) -> :int', { value: 1 }),
      signature: '(items [:any]) -> [:int]',
    },
    {
      name: 'an agent with inputs',
      agent: jsonStage('x', '(task :string, page :int) -> {n :int?}', { n: 1 }),
      signature: '(items [{task :string, page :int}]) -> [{n :int?}]',
    },
  ])('has a signature made from $name', ({ agent, signature }) => {
    expect(fanOut('f', agent).spec.signature?.text).toBe(signature);
  });

  it('may give null where items may fail', () => {
    const count = jsonStage('x', '(page :int) -> :int', { value: 1 });
    const { spec } = fanOut('f', count, { onFailure: 'null' });

    expect(spec.signature?.text).toBe('(items [{page :int}]) -> [:int?]');
  });

  test.each([
    { name: 'none', limits: undefined, compiled: { children: 5_000 } },
    { name: 'others', limits: { depth: 2 }, compiled: { children: 5_000, depth: 2 } },
    { name: 'its own', limits: { children: 9 }, compiled: { children: 9 } },
    { name: 'unlimited', limits: 'unlimited', compiled: 'unlimited' },
  ] as const)('has room for thousands of children: limits $name', ({ limits, compiled }) => {
    const options = limits === undefined ? {} : { limits };

    expect(fanOut('f', reader, options).limits).toEqual(compiled);
  });
});
