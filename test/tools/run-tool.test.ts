import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { jsonToolchain } from '../../src/define/agent/reply-layout.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { ToolRunOptions } from '../../src/tools/tool-call.ts';
import type { ToolOptions } from '../../src/define/tool/tool-options.ts';
import { external } from '../../src/define/tool/external.ts';
import { toolResult } from '../../src/define/tool/tool-result.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import type { ToolResult } from '../../src/core/contract/outcome.ts';
import { agentWith, quietSignal, testerWith, toolOrder } from '../define/agents.ts';

function options(fields: Partial<ToolRunOptions> = {}): ToolRunOptions {
  return { attempt: 1, run: 'run-1', signal: quietSignal(), graceMs: 20, ...fields };
}

/** The outcome of a tool `work` without parameters that does `execute`. */
async function outcomeOf(
  execute: ToolOptions['execute'],
  fields: Partial<ToolOptions> = {},
  run: Partial<ToolRunOptions> = {},
): Promise<unknown> {
  const tool = defineTool({ name: 'work', description: 'Works.', execute, ...fields });
  const outcome = await runTool(agentWith(tool), toolOrder('work'), options(run));
  return outcome.kind === 'result' ? outcome.result : outcome;
}

const done = { attempts: 1, started: true };

function failed(error: string, fields: Partial<ToolResult> = {}): Partial<ToolResult> {
  return { outcome: 'error', error, ...done, ...fields };
}

describe('[row 20] what a tool returns', () => {
  class Money {
    readonly cents = 5;
  }
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  test.each([
    { name: 'text', value: 'hi', output: 'hi' },
    { name: 'nothing', value: undefined, output: undefined },
    { name: 'null', value: null, output: null },
    { name: 'a record', value: { b: 1, a: [true] }, output: { b: 1, a: [true] } },
    {
      name: 'a Date and an undefined property',
      value: { at: new Date(0), no: undefined },
      output: { at: '1970-01-01T00:00:00.000Z' },
    },
  ])('arrives as JSON: $name', async ({ value, output }) => {
    expect(await outcomeOf(() => value)).toEqual({
      outcome: 'ok',
      ...(output === undefined ? {} : { output }),
      ...done,
    });
  });

  test.each([
    { name: 'a Map', value: { rows: [1, new Map()] }, problem: 'rows[1] is Map' },
    { name: 'a Set', value: new Set(), problem: '(value) is Set' },
    { name: 'a bigint', value: { id: 5n }, problem: 'id is bigint' },
    { name: 'a function', value: { run: () => 1 }, problem: 'run is function' },
    { name: 'a symbol', value: [Symbol('x')], problem: '[0] is symbol' },
    { name: 'NaN', value: { n: NaN }, problem: 'n is NaN' },
    { name: 'infinity', value: -Infinity, problem: '(value) is -Infinity' },
    { name: 'a cycle', value: cycle, problem: 'self is a cycle' },
    { name: 'an object of a class', value: { price: new Money() }, problem: 'price is Money' },
  ])('[row 21] is refused, the path named: $name', async ({ value, problem }) => {
    expect(await outcomeOf(() => value)).toEqual(
      failed(`Error: the result of work is not JSON: ${problem}.`),
    );
  });

  test('[row 21] is cut to the size of the tool, as the text that the model reads', async () => {
    const text = 'é'.repeat(10);

    expect(await outcomeOf(() => text, { maxResultBytes: 5 })).toEqual({
      outcome: 'ok',
      output: 'éé\n[cut: 4 of 20 bytes shown]',
      cut: { shown: 4, total: 20 },
      ...done,
    });
  });

  test.each([
    { name: 'YAML', toolchain: undefined, output: 'rows:\n\n[cut: 6 of 17 bytes shown]' },
    {
      name: 'JSON',
      toolchain: jsonToolchain(),
      output: '{"rows\n[cut: 6 of 14 bytes shown]',
    },
  ])("[row 21] is cut in the form of the agent's toolchain: $name", async (row) => {
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      maxResultBytes: 6,
      execute: () => ({ rows: [1, 2] }),
    });
    const agent = testerWith({
      tools: [tool],
      ...(row.toolchain === undefined ? {} : { toolchain: row.toolchain }),
    });

    const run = await runTool(agent, toolOrder('work'), options());

    expect(run).toMatchObject({ kind: 'result', result: { outcome: 'ok', output: row.output } });
  });

  test('[row 21] of 3 MB leaves 64 KB and a mark', async () => {
    const size = 3 * 1024 * 1024;

    expect(await outcomeOf(() => 'x'.repeat(size))).toEqual({
      outcome: 'ok',
      output: `${'x'.repeat(65_536)}\n[cut: 65536 of 3145728 bytes shown]`,
      cut: { shown: 65_536, total: size },
      ...done,
    });
  });

  test('may carry media, instructions and an importance', async () => {
    const media = [{ type: 'media' as const, mediaType: 'image/png', url: 'https://a.test/b.png' }];
    const returned = { output: { id: 7 }, media, instructions: 'Tell the id.', importance: 10 };

    expect(await outcomeOf(() => toolResult(returned))).toEqual({
      outcome: 'ok',
      ...returned,
      ...done,
    });
  });

  test('may carry what does not fit: the tool reads why', async () => {
    expect(await outcomeOf(() => toolResult({ importance: 11 }))).toEqual(
      failed('Error: Expected `importance` from -10 to 10, got 11. Change it.'),
    );
  });
});

describe('[row 20] arguments', () => {
  const execute = vi.fn((args: { query: string; limit: number }) => args);
  const search = defineTool({
    name: 'search',
    description: 'Finds.',
    parameters: z.object({
      query: z.string().min(2).describe('Words.'),
      limit: z.number().int().default(5),
    }),
    execute,
  });

  test('arrive checked, with defaults, as the schema library made them', async () => {
    const run = await runTool(agentWith(search), toolOrder('search', { query: 'cats' }), options());

    expect(run).toEqual({
      kind: 'result',
      result: { outcome: 'ok', output: { query: 'cats', limit: 5 }, ...done },
    });
  });

  test('that do not fit are told with the parameters, and the tool does not run', async () => {
    execute.mockClear();
    const order = toolOrder('search', { query: 7, limit: 1.5 });

    const run = await runTool(agentWith(search), order, options());

    expect(run).toEqual({
      kind: 'result',
      result: {
        outcome: 'rejected',
        error: [
          'Error: the arguments do not fit search.',
          '- limit: expected integer, got number 1.5',
          '- query: expected string, got number 7',
          'Parameters:',
          '- query (string, at least 2 characters, required): Words.',
          '- limit (integer)',
        ].join('\n'),
        attempts: 1,
        started: false,
      },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  test('of a tool that takes nothing are left out', async () => {
    const seen = vi.fn();
    const tool = defineTool({ name: 'work', description: 'Works.', execute: (args) => seen(args) });

    await runTool(agentWith(tool), toolOrder('work', { extra: 1 }), options());

    expect(seen).toHaveBeenCalledExactlyOnceWith({});
  });

  test('may become what is no JSON on the way to the tool', async () => {
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: z.object({ day: z.iso.date().transform((day) => new Date(day)) }),
      execute: ({ day }) => day.getTime(),
    });

    const run = await runTool(agentWith(tool), toolOrder('work', { day: '1970-01-02' }), options());

    expect(run).toMatchObject({ kind: 'result', result: { output: 86_400_000 } });
  });

  test("whose schema library throws fail like the tool's own throw", async () => {
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: z.object({ n: z.number() }).refine(() => {
        throw new Error('no database');
      }),
      retry: { attempts: 1 },
      execute: () => 1,
    });

    const run = await runTool(agentWith(tool), toolOrder('work', { n: 1 }), options());

    expect(run).toEqual({
      kind: 'result',
      result: failed('Error: no database', { started: false }),
    });
  });
});

describe('[row 20] what throws when it is read', () => {
  const refuse = (): never => {
    throw new Error('hands off');
  };
  const hostile = new Proxy(new Error('no'), { get: refuse });

  test('is no result, of a `once` tool either', async () => {
    const error = 'Error: the result of work is not JSON: (value) is what throws when it is read.';
    for (const effect of ['read', 'once'] as const) {
      const value = Object.defineProperty({}, 'at', { get: refuse, enumerable: true });
      expect(await outcomeOf(() => value, { effect })).toEqual(failed(error));
    }
  });

  test('is an error like another when it is thrown', async () => {
    const execute = (): never => {
      throw hostile;
    };
    const message = 'it threw what cannot be read';

    expect(await outcomeOf(execute)).toEqual({ kind: 'retry', message });
    expect(await outcomeOf(execute, { effect: 'once' })).toEqual(failed(`Error: ${message}`));
  });

  test('is an end like another when it is thrown after a stop', async () => {
    const controller = new AbortController();
    const execute = (): Promise<never> => {
      queueMicrotask(() => controller.abort());
      return new Promise((_resolve, reject) => setImmediate(reject, hostile));
    };
    const { signal } = controller;

    expect(await outcomeOf(execute, {}, { signal })).toMatchObject({ outcome: 'canceled' });
  });
});

describe('[row 20] a tool that throws', () => {
  const boom = (): never => {
    throw new Error('boom');
  };

  test('a ToolError tells the model at once', async () => {
    const execute = (): never => {
      throw new ToolError('no such city');
    };

    expect(await outcomeOf(execute)).toEqual(failed('Error: no such city'));
  });

  test('something else is tried again while attempts are left', async () => {
    expect(await outcomeOf(boom, {}, { attempt: 2 })).toEqual({ kind: 'retry', message: 'boom' });
  });

  test.each([
    { name: 'after the third attempt', fields: {}, attempt: 3 },
    { name: 'after the only attempt', fields: { retry: { attempts: 1 } }, attempt: 1 },
    { name: 'after the attempt of a `once` tool', fields: { effect: 'once' as const }, attempt: 1 },
  ])('and told to the model $name', async ({ fields, attempt }) => {
    expect(await outcomeOf(boom, fields, { attempt })).toEqual(
      failed('Error: boom', { attempts: attempt }),
    );
  });

  test.each([
    { name: 'text', thrown: 'just text', message: 'Error: just text' },
    {
      name: 'something that is no error',
      thrown: { code: 5 },
      message: 'Error: something was thrown that is no error: object',
    },
    { name: 'an error without a message', thrown: new TypeError(), message: 'Error: TypeError' },
    {
      name: 'a secret',
      thrown: new Error('GET https://a.test/x?key=abc failed'),
      message: 'Error: GET https://a.test/x?[redacted] failed',
    },
    {
      name: 'a long message',
      thrown: new ToolError('x'.repeat(2_001)),
      message: `Error: ${'x'.repeat(2_000)}`,
    },
  ])('is told without stack and secrets: $name', async ({ thrown, message }) => {
    const execute = (): never => {
      throw thrown;
    };

    expect(await outcomeOf(execute, { retry: { attempts: 1 } })).toEqual(failed(message));
  });

  test('[R4] that is not on this worker is left to another', async () => {
    const run = await runTool(agentWith(), toolOrder('gone'), options());

    expect(run).toEqual({ kind: 'not_here', what: 'tool gone' });
  });
});

describe('[row 20] time', () => {
  const never = (): Promise<never> => new Promise(() => {});

  test('that is up ends the call, and the tool is told to stop', async () => {
    const signals: AbortSignal[] = [];
    const execute = (_: unknown, { signal }: ToolContext): Promise<never> => {
      signals.push(signal);
      return never();
    };

    expect(await outcomeOf(execute, { timeoutMs: 1_500 / 100 })).toEqual(
      failed('Error: work did not finish within 0.015 s.'),
    );
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('that is up leaves the outcome of a `once` tool unknown', async () => {
    expect(await outcomeOf(never, { timeoutMs: 15, effect: 'once' })).toEqual({
      outcome: 'unknown',
      error: 'Error: it is unknown whether work took effect. Find out before you call it again.',
      ...done,
    });
  });

  test('a little more is given to a `once` tool that comes to its end', async () => {
    const execute = (_: unknown, { signal }: ToolContext): Promise<string> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('done')));

    expect(await outcomeOf(execute, { timeoutMs: 15, effect: 'once' })).toEqual({
      outcome: 'ok',
      output: 'done',
      ...done,
    });
  });
});

describe('[row 20] a call that is stopped', () => {
  /** Runs a tool that is stopped while it runs, and does `stopped` when it hears of it. */
  async function stoppedOutcome(
    stopped: (settle: {
      readonly resolve: (value: unknown) => void;
      readonly reject: (error: unknown) => void;
    }) => void,
    fields: Partial<ToolOptions> = {},
    run: Partial<ToolRunOptions> = {},
  ): Promise<unknown> {
    const controller = new AbortController();
    const execute = (_: unknown, { signal }: ToolContext): Promise<unknown> =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => stopped({ resolve, reject }));
        queueMicrotask(() => controller.abort(new Error('stop')));
      });
    return outcomeOf(execute, fields, { signal: controller.signal, ...run });
  }

  const canceled = { outcome: 'canceled', error: 'Error: canceled before it finished.' };
  const unknown = {
    outcome: 'unknown',
    error: 'Error: it is unknown whether work took effect. Find out before you call it again.',
  };

  test('ends as canceled when the tool obeys', async () => {
    const outcome = await stoppedOutcome(({ reject }) => reject(new Error('aborted')));

    expect(outcome).toEqual({ ...canceled, ...done });
  });

  test('ends as canceled when the tool does not hear', async () => {
    expect(await stoppedOutcome(() => {})).toEqual({ ...canceled, ...done });
  });

  test('ends with its result when the tool was just done', async () => {
    const outcome = await stoppedOutcome(({ resolve }) => resolve('done'));

    expect(outcome).toEqual({ outcome: 'ok', output: 'done', ...done });
  });

  test('is canceled for a `once` tool that obeys', async () => {
    const outcome = await stoppedOutcome(({ reject }) => reject(new Error('aborted')), {
      effect: 'once',
    });

    expect(outcome).toEqual({ ...canceled, ...done });
  });

  test('is unknown for a `once` tool that does not hear', async () => {
    expect(await stoppedOutcome(() => {}, { effect: 'once' })).toEqual({ ...unknown, ...done });
  });

  test('does not begin when it was stopped before', async () => {
    const execute = vi.fn();

    expect(await outcomeOf(execute, {}, { signal: AbortSignal.abort() })).toEqual({
      ...canceled,
      attempts: 1,
      started: false,
    });
    expect(execute).not.toHaveBeenCalled();
  });

  test('is tried again on another worker when this one stops', async () => {
    const outcome = await stoppedOutcome(
      ({ reject }) => reject(new Error('aborted')),
      {},
      {
        isShutdown: () => true,
      },
    );

    expect(outcome).toEqual({ kind: 'shutdown' });
  });

  test('is tried again when the worker stops before it began', async () => {
    const outcome = await outcomeOf(
      () => 1,
      {},
      { signal: AbortSignal.abort(), isShutdown: () => true },
    );

    expect(outcome).toEqual({ kind: 'shutdown' });
  });

  test('[R3] is tried again for a `once` tool when it surely did not begin', async () => {
    const execute = vi.fn();
    const stoppedInTheCheck = async (run: Partial<ToolRunOptions>): Promise<unknown> => {
      const controller = new AbortController();
      const outcome = outcomeOf(execute, { effect: 'once' }, { signal: controller.signal, ...run });
      controller.abort();
      return outcome;
    };

    const unstarted = { attempts: 1, started: false };
    expect(await stoppedInTheCheck({})).toEqual({ ...canceled, ...unstarted });
    expect(await stoppedInTheCheck({ isShutdown: () => true })).toEqual({ kind: 'shutdown' });
    expect(execute).not.toHaveBeenCalled();
  });

  test('[row 23] is unknown for a `once` tool when the worker stops', async () => {
    const outcome = await stoppedOutcome(
      ({ reject }) => reject(new Error('aborted')),
      { effect: 'once' },
      { isShutdown: () => true },
    );

    expect(outcome).toEqual({ ...unknown, ...done });
  });
});

describe('[row 23] attempts', () => {
  test('see the same idempotency key', async () => {
    const keys: string[] = [];
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      execute: (_, { idempotencyKey, attempt }) => {
        keys.push(`${idempotencyKey} ${attempt}`);
        throw new Error('lost');
      },
    });

    for (const attempt of [1, 2, 3]) {
      await runTool(agentWith(tool), toolOrder('work'), options({ attempt }));
    }

    expect(keys).toEqual(['run-1/1.1 1', 'run-1/1.1 2', 'run-1/1.1 3']);
  });

  test('of a `once` tool are one: a second is unknown and does not run', async () => {
    const execute = vi.fn();

    expect(await outcomeOf(execute, { effect: 'once' }, { attempt: 2 })).toEqual({
      outcome: 'unknown',
      error: 'Error: it is unknown whether work took effect. Find out before you call it again.',
      attempts: 2,
      started: true,
    });
    expect(execute).not.toHaveBeenCalled();
  });
});

describe('the context of a tool', () => {
  test('names the call, the run and the attempt', async () => {
    const seen = vi.fn();

    await outcomeOf((_, context) => seen(context), {}, { attempt: 2 });

    expect(seen).toHaveBeenCalledExactlyOnceWith({
      signal: expect.any(AbortSignal) as AbortSignal,
      idempotencyKey: 'run-1/1.1',
      callId: '1.1',
      run: 'run-1',
      runId: 'run-1',
      agent: 'tester',
      iteration: 1,
      agentPath: 'tester',
      attempt: 2,
      count: expect.any(Function) as ToolContext['count'],
      gauge: expect.any(Function) as ToolContext['gauge'],
      raise: expect.any(Function) as ToolContext['raise'],
      reset: expect.any(Function) as ToolContext['reset'],
      read: expect.any(Function) as ToolContext['read'],
      emit: expect.any(Function) as ToolContext['emit'],
      reportModelCall: expect.any(Function) as ToolContext['emit'],
    });
  });
});

describe('[row 39] what a tool reports', () => {
  test('travels with the result: counts added up, the last of each gauge, events in order', async () => {
    const outcome = await outcomeOf((_, { count, gauge, emit }) => {
      count('shop:refunds');
      count('shop:refunds', 2);
      gauge('shop:stock', 5);
      gauge('shop:stock', -1);
      emit('shop:sold', { id: 7 });
      emit('shop:sold', 'twice');
      return 'ok';
    });

    expect(outcome).toEqual({
      outcome: 'ok',
      output: 'ok',
      ...done,
      counts: { 'shop:refunds': 3 },
      gauges: { 'shop:stock': -1 },
      events: [
        { type: 'shop:sold', data: { id: 7 } },
        { type: 'shop:sold', data: 'twice' },
      ],
    });
  });

  test('travels with an error too', async () => {
    const outcome = await outcomeOf((_, { count }) => {
      count('shop:tries');
      throw new ToolError('no');
    });

    expect(outcome).toEqual(failed('Error: no', { counts: { 'shop:tries': 1 } }));
  });

  test.each([
    {
      name: 'a key of the loop',
      report: ({ count }: ToolContext) => count('agent:tool_calls'),
      error:
        'Error: Expected a key of your own, that starts with neither `agent:` nor `$self:`, got `agent:tool_calls`. Rename it.',
    },
    {
      name: 'a twin',
      report: ({ gauge }: ToolContext) => gauge('$self:a:b', 1),
      error:
        'Error: Expected a key of your own, that starts with neither `agent:` nor `$self:`, got `$self:a:b`. Rename it.',
    },
    {
      name: 'no colon',
      report: ({ count }: ToolContext) => count('tries'),
      error:
        'Error: Expected a key of your own to contain `:`, got `tries`. Write it as `name:tries`.',
    },
    {
      name: 'a negative step',
      report: ({ count }: ToolContext) => count('a:b', -1),
      error:
        'Error: Expected a step of `a:b` to be a whole number from 0 up, got -1. Use a gauge for values that fall.',
    },
    {
      name: 'an event that is no JSON',
      report: ({ emit }: ToolContext) => emit('a:b', { at: new Map() } as never),
      error: 'Error: Expected the data of event `a:b` to be JSON, got Map at at. Change it.',
    },
  ])('is refused as an error of the call, not tried again: $name', async ({ report, error }) => {
    expect(await outcomeOf((_, context) => report(context))).toEqual(failed(error));
  });
});

describe('a worker that hides values', () => {
  const VALUE = 'a-value-that-is-secret';
  const hide = (text: string): string => text.replaceAll(VALUE, '[redacted]');

  test('hides them in results, before they are cut', async () => {
    const output = `${'x'.repeat(1_014)}${VALUE}${'y'.repeat(1_000)}`;
    const result = await outcomeOf(() => output, { maxResultBytes: 1_030 }, { hide });

    expect(JSON.stringify(result)).toContain('[redacted]');
    expect(JSON.stringify(result)).not.toContain('a-value');
  });

  test.each([
    ['JSON', () => ({ [VALUE]: [VALUE] })],
    ['instructions', () => toolResult({ output: 'x', instructions: `Use ${VALUE}.` })],
    ['outside work', () => external({ details: { at: VALUE } })],
    ['an error', () => Promise.reject(new Error(`refused ${VALUE}`))],
    ['an error for the model', () => Promise.reject(new ToolError(`refused ${VALUE}`))],
    [
      'an event',
      (_args: unknown, context: ToolContext) => context.emit('work:seen', { text: VALUE }),
    ],
  ])('hides them in %s', async (_name, execute) => {
    const heard: unknown[] = [];
    const onEvent: ToolRunOptions['onEvent'] = (_topic, data) => heard.push(data);
    const result = await outcomeOf(execute as ToolOptions['execute'], {}, { hide, onEvent });

    expect(JSON.stringify([result, heard])).toContain('[redacted]');
    expect(JSON.stringify([result, heard])).not.toContain(VALUE);
  });

  test('hides them in an error that is tried again', async () => {
    const retry = { attempts: 2 };
    const execute = (): never => {
      throw new Error(VALUE);
    };

    expect(await outcomeOf(execute, { retry }, { hide })).toEqual({
      kind: 'retry',
      message: '[redacted]',
    });
  });
});
