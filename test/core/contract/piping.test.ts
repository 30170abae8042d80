import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import { contextOfStep, isStep } from '../../../src/core/contract/piping.ts';
import type { Step, StepStatus } from '../../../src/core/contract/step.ts';
import { unwrap } from '../../../src/core/run/unwrap.ts';
import { isUsageError } from '../../../src/core/base/usage-error.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { textOf } from '../../../src/core/base/message.ts';
import { EMPTY_MEMORY } from '../../../src/lisp.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { bodiesOf } from '../../support/runs.ts';

const program = (source: string): string => `\`\`\`clojure\n${source}\n\`\`\``;

/** An agent of each mode that there is, and a reply that ends it with `label`. */
const MODES: readonly {
  readonly mode: 'react' | 'chat' | 'json' | 'text' | 'lisp';
  readonly agent: Partial<AgentOptions>;
  readonly reply: (label: string) => string;
  /** What the next run finds in its context. */
  readonly key: 'label' | 'input';
}[] = [
  {
    mode: 'react',
    agent: { signature: '{label :string}' },
    reply: (label) => `<answer>{"label": "${label}"}</answer>`,
    key: 'label',
  },
  {
    mode: 'chat',
    agent: { signature: '{label :string}' },
    reply: (label) => `{"label": "${label}"}`,
    key: 'label',
  },
  {
    mode: 'json',
    agent: { signature: '{label :string}' },
    reply: (label) => `{"label": "${label}"}`,
    key: 'label',
  },
  { mode: 'text', agent: {}, reply: (label) => label, key: 'input' },
  {
    mode: 'lisp',
    agent: { signature: '{label :string}' },
    reply: (label) => `(def seen "${label}")\n(return {:label seen})`,
    key: 'label',
  },
];

interface Played {
  readonly step: Step;
  readonly prompt: string;
  readonly events: readonly AgentEvent[];
  readonly requests: number;
}

async function play(
  agent: Partial<AgentOptions>,
  replies: readonly string[],
  start: Partial<MemoryRunOptions> = {},
): Promise<Played> {
  const script = scriptedModel(replies);
  const definition = defineAgent({ name: 'stage', mode: 'react', model: script.model, ...agent });
  const run = startInMemory({ agent: definition, task: 'Go on.', ...start });
  const step = await run.result;
  const prompt = (script.requests[0]?.messages ?? []).map(textOf).join('\n');
  return { step, prompt, events: run.events, requests: script.requests.length };
}

const pairs = MODES.flatMap((first) => MODES.map((second) => ({ first, second })));

describe('A Step as context [sub 7]', () => {
  test.each(pairs.map((pair) => ({ ...pair, name: `${pair.first.mode} → ${pair.second.mode}` })))(
    '$name: the value is the context, by name, and a template finds it',
    async ({ first, second }) => {
      const one = await play({ mode: first.mode, ...first.agent }, [first.reply('sunny')]);

      const shown = await play({ mode: second.mode, ...second.agent }, [second.reply('ok')], {
        context: one.step,
      });
      const filled = await play(
        { mode: second.mode, ...second.agent, prompt: `Look: {{${first.key}}}. {{task}}` },
        [second.reply('ok')],
        { context: one.step },
      );

      expect([one.step.mode, one.step.status]).toEqual([first.mode, 'success']);
      expect(shown.prompt).toContain('sunny');
      expect(shown.prompt).toContain(first.key);
      // A program reads the value; the template names it.
      const isLisp = second.mode === 'lisp';
      const named = isLisp ? `~{data/${first.key}}` : 'sunny';
      expect(filled.prompt).toContain(`Look: ${named}. Go on.`);
      expect(filled.step.status).toBe('success');
      // The value is passed on, the memory is not: all that is there is of this run.
      expect(filled.step.memory).toEqual(
        isLisp ? expect.objectContaining({ bindings: { seen: 'ok' } }) : {},
      );
    },
  );

  test('between two lisp runs the value goes along, the definitions do not unless they are given', async () => {
    const lisp = { mode: 'lisp', signature: '{label :string}' } as const;
    const one = await play(lisp, [program('(def n 3)\n(return {:label "sunny"})')]);
    const two = await play({ mode: 'json', signature: '{label :string}' }, ['{"label": "dry"}'], {
      context: one.step,
    });
    const uses = program('(return {:label (str data/label n)})');

    const empty = await play(lisp, [uses, program('(return {:label data/label})')], {
      context: two.step,
    });
    const carried = await play(lisp, [uses], { context: two.step, memory: one.step.memory });

    expect(one.step.memory).toMatchObject({ bindings: { n: expect.anything() } });
    expect([two.step.memory, empty.step.memory]).toEqual([{}, EMPTY_MEMORY]);
    expect([empty.step.value, empty.requests]).toEqual([{ label: 'dry' }, 2]);
    expect([carried.step.value, carried.requests]).toEqual([{ label: 'dry3' }, 1]);
    expect(empty.prompt).not.toContain(';; memory');
    expect(carried.prompt).toContain(';; memory\nn = 3');
  });

  test.each(MODES)(
    '$mode after a failed Step ends at once, without a model',
    async ({ mode, agent }) => {
      const upstream: Step = {
        ...(await play({ mode: 'text' }, ['x'])).step,
        agent: 'triage',
        status: 'error',
        value: null,
        reason: 'validation_error',
        message: 'iteration 5: no answer could be used',
      };

      const { step, requests, events } = await play({ mode, ...agent }, [], { context: upstream });

      expect(requests).toBe(0);
      expect(step).toMatchObject({
        mode,
        status: 'error',
        reason: 'chained_failure',
        value: null,
        message:
          'upstream `triage` ended with validation_error: iteration 5: no answer could be used',
        details: {
          upstream: {
            id: upstream.trace.workflowId,
            runId: upstream.runId,
            agent: 'triage',
            status: 'error',
            reason: 'validation_error',
            message: 'iteration 5: no answer could be used',
          },
        },
        iterations: 0,
      });
      expect(events.map(({ type }) => type)).toEqual([
        'agent:execution:before',
        'agent:error',
        'agent:execution:after',
      ]);
    },
  );

  test.each<StepStatus>(['limit_exceeded', 'canceled', 'error', 'compaction_failed'])(
    'a Step with status %s gives no context',
    async (status) => {
      const { step } = await play({ mode: 'text' }, ['x']);

      expect(contextOfStep({ ...step, status, reason: 'r' }).kind).toBe('failed');
    },
  );

  test.each<{ value: Json; context: Json }>([
    { value: { a: 1 }, context: { a: 1 } },
    { value: 'text', context: { input: 'text' } },
    { value: 3, context: { input: 3 } },
    { value: false, context: { input: false } },
    { value: [1], context: { input: [1] } },
    { value: null, context: { input: null } },
  ])('the value $value becomes the context $context', async ({ value, context }) => {
    const { step } = await play({ mode: 'text' }, ['x']);

    expect(contextOfStep({ ...step, value })).toEqual({
      kind: 'context',
      context,
      contextDescriptions: {},
    });
  });

  test('what fields mean goes along, but for what the agent says itself', async () => {
    const one = await play(
      {
        mode: 'json',
        signature: '{a :int, b :int}',
        fieldDescriptions: { a: 'from upstream', b: 'from upstream' },
      },
      ['{"a": 1, "b": 2}'],
    );

    const two = await play({ mode: 'text', contextDescriptions: { b: 'my own words' } }, ['x'], {
      context: one.step,
    });

    expect(two.prompt).toContain('<data name="a" about="from upstream">1</data>');
    expect(two.prompt).toContain('<data name="b" about="my own words">2</data>');
  });

  test.each(MODES)(
    '$mode shows what keys mean, and nothing that is hidden [sub 19]',
    async (row) => {
      const { prompt, step } = await play(
        { mode: row.mode, ...row.agent, contextDescriptions: { stars: 'one to five', _key: 'x' } },
        [row.reply('ok')],
        { context: { stars: 5, _key: 'SENTINEL' } },
      );

      expect(step.status).toBe('success');
      expect(prompt).toContain('one to five');
      expect(prompt).not.toContain('SENTINEL');
      // Programs may use it, so they are told its name.
      expect(prompt.includes('_key')).toBe(row.mode === 'lisp');
    },
  );

  test('lisp: a template may name what is hidden [sub 19]', async () => {
    const { step, prompt } = await play(
      { mode: 'lisp', prompt: 'Use {{_key}}' },
      ['(return (count data/_key))'],
      { context: { _key: 'SENTINEL' } },
    );

    expect(step.value).toBe(8);
    expect(prompt).toContain('<task>\nUse ~{data/_key}\n</task>');
    expect(prompt).not.toContain('SENTINEL');
  });

  test.each(MODES.filter(({ mode }) => mode !== 'lisp'))(
    '$mode: a template cannot show what is hidden [sub 19]',
    async ({ mode, agent }) => {
      const { step, requests } = await play({ mode, ...agent, prompt: 'Use {{_key}}' }, [], {
        context: { _key: 'SENTINEL' },
      });

      expect([requests, step.reason, step.message]).toEqual([
        0,
        'template_error',
        'missing: {{_key}} (line 1, column 5)',
      ]);
    },
  );

  test('data of a user that looks a little like a Step is context', () => {
    expect([isStep({ v: 1, status: 'success', value: 1 }), isStep(null), isStep([])]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('What a run is given [sub 7]', () => {
  const agent: Partial<AgentOptions> = {
    mode: 'json',
    signature: '(review :string, stars :int, at :datetime?) -> :string',
  };

  test('a value of the wrong shape fails before money is spent', async () => {
    const { step, requests } = await play(agent, [], { context: { stars: 'many' } });

    expect(requests).toBe(0);
    expect([step.status, step.reason, step.message, step.details]).toEqual([
      'error',
      'invalid_input',
      '`review` is required (string).\nstars: cannot coerce string "many" to integer',
      {
        problems: [
          '`review` is required (string).',
          'stars: cannot coerce string "many" to integer',
        ],
      },
    ]);
  });

  test('what can be meant in one way is changed, with a warning', async () => {
    const { prompt, events } = await play(agent, ['{"value": "x"}'], {
      context: { review: 'Good', stars: '5', more: true },
    });

    expect(prompt).toContain('<data name="stars">5</data>\n<data name="more">true</data>');
    expect(bodiesOf(events, 'agent:warning')).toEqual([
      { type: 'agent:warning', code: 'input_coerced', message: 'stars: "5" was read as 5' },
    ]);
  });

  test('the full schema of inputs is checked too', async () => {
    const input = {
      type: 'object',
      properties: { color: { type: 'string', enum: ['red', 'blue'] } },
      required: ['color'],
    };

    const { step } = await play(
      { mode: 'json', signature: { input, output: { type: 'string' } } },
      [],
      {
        context: { color: 'green' },
      },
    );

    expect([step.reason, step.message]).toEqual([
      'invalid_input',
      'color: expected one of "red", "blue", got string "green"',
    ]);
  });

  test('a template that cannot be filled in is `template_error`', async () => {
    const { step, requests } = await play({ mode: 'text', prompt: 'For {{user.name}}' }, []);

    expect(requests).toBe(0);
    expect([step.reason, step.message]).toEqual([
      'template_error',
      'missing: {{user.name}} (line 1, column 5)',
    ]);
  });

  test('the filled-in text is the task of every mode', async () => {
    for (const { mode, agent: fields, reply } of MODES) {
      const { prompt } = await play({ mode, ...fields, prompt: 'Do {{what}}!' }, [reply('ok')], {
        context: { what: 'it' },
      });

      expect(prompt).toContain(mode === 'lisp' ? 'Do ~{data/what}!' : 'Do it!');
    }
  });
});

function stepOf(error: object): unknown {
  return 'step' in error ? error.step : undefined;
}

describe('unwrap', () => {
  test('gives the value of a success', async () => {
    const { step } = await play({ mode: 'text' }, ['Hi']);

    expect(unwrap(step)).toBe('Hi');
  });

  test('throws for any other Step, which it carries', async () => {
    const { step } = await play({ mode: 'text' }, [' ']);

    let thrown: unknown;
    try {
      unwrap(step);
    } catch (error) {
      thrown = error;
    }

    expect(isUsageError(thrown) && [thrown.code, thrown.message, stepOf(thrown)]).toEqual([
      'run_failed',
      'Expected run `run-1` of agent `stage` to succeed, got error, empty_response: iteration 1: the reply is empty',
      step,
    ]);
    // As Node prints an error that ends a program: message and stack, but not the Step.
    const printed = inspect(thrown, { customInspect: false, depth: 5 });
    expect(printed).toContain('the reply is empty');
    expect(printed).not.toContain('fieldDescriptions');
  });
});
