import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { codeId } from '../../../src/lisp.ts';
import { compiledFrom, compiledText, isCompiled } from '../../../src/core/program-text/compiled.ts';
import type { CompiledAgent } from '../../../src/core/contract/input.ts';
import { isUsageError } from '../../../src/core/base/usage-error.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { eventually } from '../../support/eventually.ts';
import { bodiesOf } from '../../support/runs.ts';

const price = defineTool({
  name: 'look-up',
  description: 'Says what a thing costs.',
  parameters: z.object({ thing: z.string() }),
  retry: { attempts: 1 },
  execute: ({ thing }) => thing.length * 100,
});

const report: Partial<AgentOptions> = {
  mode: 'lisp',
  tools: [price],
  signature: '(things [:string], rate :float) -> {total :float}',
};

function agentWith(options: Partial<AgentOptions>, replies: readonly string[]) {
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'report',
    model: { id: 'm', model: script.model },
    ...report,
    ...options,
  });
  return { script, agent };
}

const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;
const context = { things: ['tea', 'milk'], rate: 0.5 };

/** Runs an agent whose model writes `programs`, and compiles it. */
async function compile(
  programs: readonly string[],
  options: Partial<AgentOptions> = {},
): Promise<CompiledAgent> {
  const { agent, script } = agentWith(options, programs);
  const run = startInMemory({ agent, task: 'Sum up.', context });
  const step = await run.result;
  script.assertDone();
  return compiledFrom({ step, entries: run.entries, events: run.events });
}

/** Runs it with a model that fails the test when it is called. */
function runCompiled(
  compiled: CompiledAgent,
  start: Partial<MemoryRunOptions> = {},
  options: Partial<AgentOptions> = {},
): MemoryRun {
  const { agent } = agentWith(
    { model: () => Promise.reject(new Error('No model is asked.')), ...options },
    [],
  );
  return startInMemory({ agent, context, compiled, ...start });
}

function problemOf(act: () => unknown): readonly [string, string] {
  try {
    act();
  } catch (error) {
    if (isUsageError(error)) return [error.code, error.message];
    throw error;
  }
  throw new Error('Expected a refusal, got none.');
}

const SUM = '(return {:total (* data/rate (sum (map cost data/things)))})';
const COST = '(defn cost [thing] (* factor (tool/look-up {:thing thing})))';
const PROGRAMS = [
  program(`(def factor 1)\n(def seen (count data/things))\n(println "hm")`),
  program('(def broken (tool/look-up {:thing "x"}))\n(def factor 100)\n(+ 1 :a)'),
  program(`(def factor (+ factor 1))\n${COST}`),
  program(SUM),
];

describe('a compiled agent [sub 16]', () => {
  it('has the accepted program, and the definitions that it uses, in their order', async () => {
    const compiled = await compile(PROGRAMS);

    expect(compiled).toEqual({
      v: 1,
      agent: 'report',
      source: SUM,
      codeId: codeId(['(def factor 1)', '(def factor (+ factor 1))', COST, SUM].join('\n')),
      signature: '(things [:string], rate :float) -> {total :float}',
      tools: ['look_up'],
      definitions: [
        { name: 'factor', source: '(def factor 1)' },
        { name: 'factor', source: '(def factor (+ factor 1))' },
        { name: 'cost', source: COST },
      ],
      model: 'm',
      usage: expect.objectContaining({ modelCalls: 4, toolCalls: 3 }),
    });
    expect(isCompiled(JSON.parse(JSON.stringify(compiled)))).toBe(true);
  });

  it('runs without a model, on other data, in one iteration', async () => {
    const compiled = await compile(PROGRAMS);

    const run = runCompiled(compiled, { context: { things: ['salt'], rate: '2' } });
    const step = await run.result;

    expect(step).toMatchObject({
      mode: 'lisp',
      status: 'success',
      value: { total: 1_600 },
      iterations: 1,
      usage: { modelCalls: 0, toolCalls: 1 },
    });
    expect(run.events.flatMap((it) => (it.type === 'agent:warning' ? [it.message] : []))).toEqual([
      'rate: "2" was read as 2',
    ]);
  });

  it('is the same with the native transport', async () => {
    const call = (source: string): never =>
      ({ toolCalls: [{ id: 'c', name: 'lisp_eval', args: { program: source } }] }) as never;
    const compiled = await compile([call('(def half 0.5)'), call('(return {:total half})')], {
      transport: 'tool_call',
    });

    expect([compiled.source, compiled.definitions]).toEqual([
      '(return {:total half})',
      [{ name: 'half', source: '(def half 0.5)' }],
    ]);
  });

  it.each<{
    readonly name: string;
    readonly source: string;
    readonly options?: Partial<AgentOptions>;
    readonly step: Partial<Step>;
  }>([
    {
      name: 'a program error',
      source: '(return {:total (+ 1 (first data/things))})',
      step: { reason: 'type_error' },
    },
    {
      name: 'a failed program',
      source: '(fail {:reason "no_data" :message "There is none."})',
      step: { reason: 'no_data', message: 'There is none.' },
    },
    {
      name: 'a value that does not fit',
      source: '(return {:total "much"})',
      step: {
        reason: 'validation_error',
        details: {
          problems: ['total: expected number, got string "much"'],
          value: { total: 'much' },
        },
      },
    },
    {
      name: 'a value that a validator rejects',
      source: '(return {:total 1})',
      options: {
        validators: [
          defineValidator({
            name: 'large',
            validate: () => ({ accepted: false, feedback: 'Too small.' }),
          }),
        ],
      },
      step: {
        reason: 'validation_error',
        details: { problems: ['Too small.'], value: { total: 1 } },
      },
    },
  ])('$name ends its run, and nothing is repaired', async ({ source, options, step: wanted }) => {
    const compiled: CompiledAgent = {
      ...(await compile([program('(return {:total 1})')])),
      source,
      codeId: codeId(source),
    };

    const step = await runCompiled(compiled, {}, options).result;

    expect(step).toMatchObject({ status: 'error', iterations: 1, ...wanted });
    expect(step.usage.modelCalls).toBe(0);
  });

  it('checks its inputs before it runs', async () => {
    const compiled = await compile([program('(return {:total 1})')]);

    const step = await runCompiled(compiled, { context: { things: 'tea' } }).result;

    expect([step.reason, step.message, step.iterations]).toEqual([
      'invalid_input',
      'things: cannot coerce string "tea" to list\n`rate` is required (float).',
      0,
    ]);
  });

  it('waits for people in its middle, through a hand-over', async () => {
    const asking = { askUser: true };
    const source = '(return {:total (parse-double (ask "How much?"))})';
    const compiled: CompiledAgent = {
      ...(await compile([program('(return {:total 1})')], asking)),
      source,
      codeId: codeId(source),
      tools: ['ask_user'],
    };

    const run = runCompiled(compiled, { handoverDue: (_n, place) => place === 'program' }, asking);
    const seen = await run.resultOrPending();
    if (seen.kind !== 'pending') throw new Error(`Expected a question, got ${seen.step.reason}.`);
    await eventually('a hand-over', () => run.state.link > 1);
    run.answer(seen.pending[0]?.id ?? '', '2.5');
    const step = await run.result;

    expect([step.value, step.iterations]).toEqual([{ total: 2.5 }, 1]);
    expect(bodiesOf(run.events, 'agent:question:asked')).toHaveLength(1);
  });

  it('takes inputs that come meanwhile for too late, and runs once', async () => {
    const compiled = await compile(PROGRAMS);
    const run = runCompiled(compiled, {
      onEvent: (event, live) => {
        if (event.type === 'agent:program:before') live.send('One more thing.');
      },
    });
    const step = await run.result;

    expect([step.status, step.iterations, step.trace.unreadInputs]).toEqual([
      'success',
      1,
      ['input-1'],
    ]);
  });
});

describe('what is not compiled [sub 16]', () => {
  it.each([
    {
      name: 'the value of an earlier program',
      programs: [program('{:total 1}'), program('(return *1)')],
      options: {},
      got: 'one that uses `*1`. Let it define what it needs.',
    },
    {
      name: 'a value that became the answer',
      programs: [program('{:total 1}'), program('nil')],
      options: { maxTurns: 2 },
      got: 'another one. Let it end with `(return …)`.',
    },
  ])('$name', async ({ programs, options, got }) => {
    const { agent } = agentWith(options, programs);
    const run = startInMemory({ agent, task: 'Sum up.', context });
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(
      problemOf(() => compiledFrom({ step, entries: run.entries, events: run.events })),
    ).toEqual([
      'not_compilable',
      `Expected the answer of \`report\` to be that of its last program, got ${got}`,
    ]);
  });

  it('an agent of another mode is refused when it is started for its program', () => {
    const agent = defineAgent({
      name: 'triage',
      mode: 'json',
      signature: ':int',
      model: () => Promise.resolve('1'),
    });

    expect(problemOf(() => startInMemory({ agent, task: 'x', compiles: true }))).toEqual([
      'invalid_input',
      'only mode `lisp` compiles, `triage` is `json`.',
    ]);
  });

  it.each<{
    readonly name: string;
    readonly change: (compiled: CompiledAgent) => object;
    readonly message: (compiled: CompiledAgent) => string;
  }>([
    {
      name: 'a changed source',
      change: (compiled) => ({ ...compiled, source: '(return {:total 2})' }),
      message: ({ codeId: id, ...rest }) =>
        `Expected the program of compiled \`report\` to be ${id}, got ${codeId(compiledText({ ...rest, codeId: id, source: '(return {:total 2})' }))}: it was changed. Compile it again.`,
    },
    {
      name: 'a changed definition',
      change: (compiled) => ({ ...compiled, definitions: [] }),
      message: ({ codeId: id, source }) =>
        `Expected the program of compiled \`report\` to be ${id}, got ${codeId(source)}: it was changed. Compile it again.`,
    },
    {
      name: 'a tool that the worker lacks',
      change: (compiled) => ({ ...compiled, tools: ['fetch'] }),
      message: () => 'compiled `report` needs tool `fetch`, which the worker does not have.',
    },
    {
      name: 'something else',
      change: () => ({ v: 2 }),
      message: () =>
        'Expected `compiled` to be what `compileAgent` returns, got something else. Compile it again.',
    },
  ])('$name is refused before the run begins', async ({ change, message }) => {
    const compiled = await compile(PROGRAMS);

    expect(problemOf(() => runCompiled(change(compiled) as CompiledAgent))).toEqual([
      'invalid_input',
      message(compiled),
    ]);
  });
});
