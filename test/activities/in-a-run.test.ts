/** Tools, validators and limits as a whole run sees them: observation, events, statistics, Step. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { textAnswer } from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { isOwnEvent } from '../../src/core/contract/events.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { textOf } from '../../src/core/base/message.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedReply } from '../../src/testing/scripted-model.ts';
import { withoutWaits } from '../support/no-waits.ts';

/** Runs an agent over a script; gives the Step, the run and the last request as text. */
async function play(
  replies: readonly ScriptedReply[],
  options: Partial<AgentOptions>,
): Promise<{ readonly step: Step; readonly run: MemoryRun; readonly observed: string }> {
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: script.model,
    thinking: false,
    ...options,
  });
  const run = startInMemory({ agent, task: 'Go.' });
  const step = await withoutWaits(() => run.result);
  script.assertDone();
  const request = script.requests.at(-1);
  // The last message is the marker; the observation stands before it.
  const observation = request?.messages.at(-2);
  return { step, run, observed: observation === undefined ? '' : textOf(observation) };
}

function action(...calls: readonly string[]): string {
  return `<action>\n[${calls.join(', ')}]\n</action>`;
}

const done = '<answer>done</answer>';

/** Ends when it is told to stop. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

const tools = [
  defineTool({
    name: 'echo',
    description: 'Echoes.',
    parameters: z.object({ text: z.string() }),
    execute: ({ text }) => text,
  }),
  defineTool({
    name: 'refuse',
    description: 'Refuses.',
    execute: () => {
      throw new ToolError('not today');
    },
  }),
  defineTool({
    name: 'boom',
    description: 'Fails.',
    execute: () => {
      throw new Error('boom');
    },
  }),
  defineTool({
    name: 'slow',
    description: 'Takes too long.',
    timeoutMs: 30,
    execute: (_args, { signal }) => ended(signal),
  }),
  defineTool({
    name: 'deaf',
    description: 'Takes too long, and acts once.',
    effect: 'once',
    timeoutMs: 30,
    execute: () => new Promise(() => undefined),
  }),
  defineTool({ name: 'map', description: 'Maps.', execute: () => ({ rows: new Map() }) }),
];

/** The counters of calls, as far as they moved. */
function callCounters({ stats }: Step): { readonly [key: string]: number } {
  const wanted = Object.entries(stats.counters).filter(([key]) =>
    key.startsWith('agent:tool_calls'),
  );
  return Object.fromEntries(wanted.filter(([, value]) => value > 0));
}

describe('[row 20] outcomes of calls', () => {
  test.each([
    {
      name: 'a success',
      call: '{tool: echo, args: {text: hi}}',
      text: '<echo>\nhi\n</echo>',
      outcome: 'ok',
      attempts: 1,
      counters: { 'agent:tool_calls': 1, 'agent:tool_calls:echo': 1 },
    },
    {
      name: 'a ToolError',
      call: '{tool: refuse}',
      text: '<refuse>\nError: not today\n</refuse>',
      outcome: 'error',
      attempts: 1,
      counters: {
        'agent:tool_calls': 1,
        'agent:tool_calls:refuse': 1,
        'agent:tool_calls_error_total': 1,
        'agent:tool_calls_error:refuse': 1,
      },
    },
    {
      name: 'another throw, after three attempts',
      call: '{tool: boom}',
      text: '<boom>\nError: boom\n</boom>',
      outcome: 'error',
      attempts: 3,
      counters: {
        'agent:tool_calls': 1,
        'agent:tool_calls:boom': 1,
        'agent:tool_calls_error_total': 1,
        'agent:tool_calls_error:boom': 1,
      },
    },
    {
      name: 'a result that is no JSON',
      call: '{tool: map}',
      text: '<map>\nError: the result of map is not JSON: rows is Map.\n</map>',
      outcome: 'error',
      attempts: 1,
      counters: {
        'agent:tool_calls': 1,
        'agent:tool_calls:map': 1,
        'agent:tool_calls_error_total': 1,
        'agent:tool_calls_error:map': 1,
      },
    },
    {
      name: 'a tool that takes too long',
      call: '{tool: slow}',
      text: '<slow>\nError: slow did not finish within 0.03 s.\n</slow>',
      outcome: 'error',
      attempts: 1,
      counters: {
        'agent:tool_calls': 1,
        'agent:tool_calls:slow': 1,
        'agent:tool_calls_error_total': 1,
        'agent:tool_calls_error:slow': 1,
      },
    },
    {
      name: 'a `once` tool that takes too long: nobody knows',
      call: '{tool: deaf}',
      text: '<deaf>\nError: it is unknown whether deaf took effect. Find out before you call it again.\n</deaf>',
      outcome: 'unknown',
      attempts: 1,
      counters: {
        'agent:tool_calls': 1,
        'agent:tool_calls:deaf': 1,
        'agent:tool_calls_error_total': 1,
        'agent:tool_calls_error:deaf': 1,
      },
    },
    {
      name: 'unfit arguments: the tool does not run and does not count',
      call: '{tool: echo, args: {}}',
      text: '<echo>\nError: the arguments do not fit echo.\n- text: missing\nParameters:\n- text (string, required)\n</echo>',
      outcome: 'rejected',
      attempts: 1,
      counters: { 'agent:tool_calls_error_total': 1, 'agent:tool_calls_error:echo': 1 },
    },
    {
      name: 'an unknown tool: its name becomes no key',
      call: '{tool: ecco}',
      text: '<unknown_tool>\nError: unknown tool "ecco". Did you mean echo? Tools: echo, refuse, boom, slow, deaf, map.\n</unknown_tool>',
      outcome: 'rejected',
      attempts: 0,
      counters: { 'agent:tool_calls_error_total': 1, 'agent:tool_calls_error:(unknown)': 1 },
    },
  ])('$name', async ({ call, text, outcome, attempts, counters }) => {
    const { step, run, observed } = await play([action(call), done], { tools });

    expect(observed).toBe(`<observation>\n${text}\n</observation>`);
    const after = run.events.find(({ type }) => type === 'agent:tool_call:after');
    expect(after).toMatchObject({ outcome, attempts });
    const twins = Object.entries(counters).map(([key, value]) => [`$self:${key}`, value]);
    const { stats } = step;
    expect(callCounters(step)).toEqual(counters);
    expect(stats.counters).toMatchObject(Object.fromEntries(twins));
    expect(step.status).toBe('success');
  });
});

describe('[row 42] default limits in a run', () => {
  test('end it at the fourth failed call in a row', async () => {
    const { step } = await play(
      Array.from({ length: 4 }, () => action('{tool: refuse}')),
      { tools },
    );

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:tool_calls_error_consecutive',
      message: 'limit exceeded: agent:tool_calls_error_consecutive is 4, the limit is 3',
      iterations: 4,
    });
  });

  test('let it go on after three, a success, and three more', async () => {
    const three = Array.from({ length: 3 }, () => action('{tool: refuse}'));

    const { step } = await play(
      [...three, action('{tool: echo, args: {text: hi}}'), ...three, done],
      { tools },
    );

    expect(step).toMatchObject({ status: 'success', iterations: 8 });
  });

  test('run exactly 100 iterations', async () => {
    const { step } = await play(
      Array.from({ length: 100 }, (_, i) => action(`{tool: echo, args: {text: hi ${i}}}`)),
      { tools },
    );

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: '$self:agent:iterations',
      message: 'limit reached: $self:agent:iterations would be 101, the limit is 100',
      iterations: 100,
    });
  });
});

describe('[row 39] keys of users in a run', () => {
  const counting = defineTool({
    name: 'refund',
    description: 'Refunds.',
    execute: (_, { count, gauge, emit }) => {
      count('shop:refunds', 2);
      gauge('shop:stock', 7);
      emit('shop:refunded', { id: 1 });
      return 'ok';
    },
  });

  test('move statistics and can be limited', async () => {
    const { step, run } = await play([action('{tool: refund}'), action('{tool: refund}')], {
      tools: [counting],
      limits: { custom: [{ kind: 'exact', key: 'shop:refunds', max: 3 }] },
    });

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'shop:refunds',
      message: 'limit exceeded: shop:refunds is 4, the limit is 3',
      iterations: 2,
    });
    expect(step.stats.counters).toMatchObject({ 'shop:refunds': 4, '$self:shop:refunds': 4 });
    expect(step.stats.gauges).toMatchObject({ 'shop:stock': 7 });
    const own = run.events.filter((event) => isOwnEvent(event, 'shop:refunded'));
    expect(own).toHaveLength(2);
    expect(run.events.filter((event) => isOwnEvent(event))).toEqual(own);
  });
});

describe('[row 31] validators in a run', () => {
  const short = defineValidator({
    name: 'short',
    validate: (answer: string) =>
      answer.length <= 5 ? { accepted: true } : { accepted: false, feedback: 'Be brief.' },
  });
  const polite = defineValidator({
    name: 'polite',
    validate: (answer: string) => ({ accepted: answer.includes('!') }),
  });
  const answer = textAnswer({ validators: [short, polite] });

  test('send the answer back until all accept', async () => {
    const { step, run, observed } = await play(
      ['<answer>far too long</answer>', '<answer>hi</answer>', '<answer>hi!</answer>'],
      { answer },
    );

    expect(step).toMatchObject({ status: 'success', value: 'hi!', iterations: 3 });
    expect(observed).toBe(
      '<observation>\n<feedback>\nThe answer was not accepted. Improve it and answer again.\n</feedback>\n</observation>',
    );
    expect(step.stats.counters).toMatchObject({
      'agent:answer_rejected_total': 2,
      'agent:answer_rejected_by:short': 1,
      'agent:answer_rejected_by:polite': 1,
    });
    const results = run.events.flatMap((event) =>
      event.type === 'agent:validator:result' ? [[event.validator, event.accepted]] : [],
    );
    expect(results).toEqual([
      ['short', false],
      ['short', true],
      ['polite', false],
      ['short', true],
      ['polite', true],
    ]);
  });

  test('can be limited by prefix: the key that tripped is named', async () => {
    const { step } = await play(['<answer>hi</answer>', '<answer>ho</answer>'], {
      answer,
      limits: { custom: [{ kind: 'prefix', key: 'agent:answer_rejected_by:', max: 1 }] },
    });

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:answer_rejected_by:polite',
      exceededLimit: { key: 'agent:answer_rejected_by:polite', value: 2 },
    });
  });

  test('that throw on every try end the run', async () => {
    const broken = defineValidator({
      name: 'broken',
      validate: () => {
        throw new Error('no database');
      },
    });

    const { step } = await play([done], { validators: [broken] });

    expect(step).toMatchObject({
      status: 'error',
      reason: 'validator_failed',
      message: 'iteration 1: validator broken: no database',
    });
  });
});
