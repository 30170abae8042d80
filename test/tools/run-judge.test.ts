import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  jsonAnswer,
  jsonSection,
  textAnswer,
  textSection,
  yamlSection,
} from '../../src/define/agent/reply-layout.ts';
import { defineValidator, type ValidatorOptions } from '../../src/define/tool/define-validator.ts';
import type {
  RegisteredAgent,
  ReportContext,
  ValidatorDefinition,
  ValidatorVerdict,
} from '../../src/define/definition/definitions.ts';
import type { JudgeRun } from '../../src/tools/judge-run.ts';
import { runJudge } from '../../src/tools/run-judge.ts';
import type { Json } from '../../src/core/base/json.ts';
import type { JudgeOrder } from '../../src/core/contract/outcome.ts';
import { judgeOrder, quietSignal, testerWith } from '../define/agents.ts';

function judge(agent: RegisteredAgent, fields: Partial<JudgeOrder>): Promise<JudgeRun> {
  const order = judgeOrder({ validators: [...agent.validators.keys()], ...fields });
  return runJudge(agent, order, { attempt: 1, run: 'run-1', signal: quietSignal(), graceMs: 20 });
}

/** A validator of text answers. */
function validator(
  name: string,
  validate: ValidatorOptions<Json>['validate'],
): ValidatorDefinition {
  return defineValidator({ name, validate });
}

const long = validator('long', (answer) =>
  typeof answer === 'string' && answer.length > 3
    ? { accepted: true }
    : { accepted: false, feedback: 'Write more than 3 letters.' },
);
const lower = validator('lower', (answer) => ({
  accepted: typeof answer === 'string' && answer === answer.toLowerCase(),
}));

const empty = { sections: [], validators: [], attempts: 1 };

function judged(fields: object): JudgeRun {
  return { kind: 'judged', result: { verdicts: [], ...empty, ...fields } };
}

describe('[row 31] validators', () => {
  const agent = testerWith({
    answer: textAnswer({ validators: [long] }),
    validators: [lower],
  });

  test('are those that the run began with, whatever the worker has beside', async () => {
    expect(await judge(agent, { answers: ['NO'], validators: [] })).toEqual(
      judged({ verdicts: [{ kind: 'accepted' }] }),
    );
    expect(await judge(agent, { answers: ['fine'], validators: ['long', 'safe'] })).toEqual({
      kind: 'not_here',
      what: 'validator safe',
      message: 'validator safe: this worker does not have it',
    });
  });

  test('accept in order, those of the answer first', async () => {
    expect(await judge(agent, { answers: ['fine'] })).toEqual(
      judged({
        verdicts: [{ kind: 'accepted' }],
        validators: [
          { validator: 'long', accepted: true },
          { validator: 'lower', accepted: true },
        ],
      }),
    );
  });

  test('stop at the first rejection, with its feedback as a section', async () => {
    expect(await judge(agent, { answers: ['NO'] })).toEqual(
      judged({
        verdicts: [
          {
            kind: 'rejected',
            validator: 'long',
            feedback: [{ name: 'feedback', content: 'Write more than 3 letters.' }],
          },
        ],
        validators: [{ validator: 'long', accepted: false }],
      }),
    );
  });

  test('may reject without a word', async () => {
    expect(await judge(agent, { answers: ['LOUD'] })).toEqual(
      judged({
        verdicts: [{ kind: 'rejected', validator: 'lower', feedback: [] }],
        validators: [
          { validator: 'long', accepted: true },
          { validator: 'lower', accepted: false },
        ],
      }),
    );
  });

  test('decide on the first candidate: those behind it are not looked at', async () => {
    expect(await judge(agent, { answers: ['NO', 'fine'] })).toEqual(
      judged({
        verdicts: [
          {
            kind: 'rejected',
            validator: 'long',
            feedback: [{ name: 'feedback', content: 'Write more than 3 letters.' }],
          },
        ],
        validators: [{ validator: 'long', accepted: false }],
      }),
    );
  });

  test('may answer with sections, of which only the known fields are kept', async () => {
    const sections = [
      { name: 'missing', children: [{ name: 'city', content: 'Name it.', extra: 1 }] },
      { name: 'tone' },
    ];
    const strict = testerWith({
      validators: [validator('strict', () => ({ accepted: false, feedback: sections }))],
    });

    expect(await judge(strict, { answers: ['x'] })).toEqual(
      judged({
        verdicts: [
          {
            kind: 'rejected',
            validator: 'strict',
            feedback: [
              { name: 'missing', children: [{ name: 'city', content: 'Name it.' }] },
              { name: 'tone' },
            ],
          },
        ],
        validators: [{ validator: 'strict', accepted: false }],
      }),
    );
  });

  test('get the context of a tool, but for the call', async () => {
    const seen = vi.fn();
    const curious = testerWith({
      validators: [
        validator('curious', (answer, context): ValidatorVerdict => {
          seen(answer, context);
          return { accepted: true };
        }),
      ],
    });

    await judge(curious, { answers: ['x'] });

    expect(seen).toHaveBeenCalledExactlyOnceWith('x', {
      signal: expect.any(AbortSignal) as AbortSignal,
      run: 'run-1',
      runId: 'run-1',
      agent: 'tester',
      iteration: 1,
      agentPath: 'tester',
      attempt: 1,
      count: expect.any(Function) as ReportContext['count'],
      gauge: expect.any(Function) as ReportContext['gauge'],
      raise: expect.any(Function) as ReportContext['raise'],
      reset: expect.any(Function) as ReportContext['reset'],
      emit: expect.any(Function) as ReportContext['emit'],
      reportModelCall: expect.any(Function) as ReportContext['emit'],
    });
  });

  test('[row 39] report with the result', async () => {
    const counting = testerWith({
      validators: [
        validator('counting', (_, { count, gauge, emit }) => {
          count('judge:seen', 2);
          gauge('judge:score', 0.5);
          emit('judge:done', null);
          return { accepted: true };
        }),
      ],
    });

    expect(await judge(counting, { answers: ['x'] })).toEqual(
      judged({
        verdicts: [{ kind: 'accepted' }],
        validators: [{ validator: 'counting', accepted: true }],
        counts: { 'judge:seen': 2 },
        gauges: { 'judge:score': 0.5 },
        events: [{ type: 'judge:done', data: null }],
      }),
    );
  });

  test.each([
    {
      name: 'throws',
      validate: () => {
        throw new Error('no database');
      },
      message: 'validator broken: no database',
    },
    {
      name: 'returns no verdict',
      validate: () => true as never,
      message: 'validator broken: it returned no verdict, expected { accepted }',
    },
    {
      name: 'returns feedback of another kind',
      validate: () => ({ accepted: false as const, feedback: 5 as never }),
      message: 'validator broken: it returned no verdict, expected { accepted }',
    },
    {
      name: 'counts what is not its own',
      validate: (_: Json, { count }: ReportContext) => {
        count('agent:iterations');
        return { accepted: true as const };
      },
      message:
        'validator broken: Expected a key of your own, that starts with neither `agent:` nor `$self:`, got `agent:iterations`. Rename it.',
    },
  ])('fail the attempt when one $name', async ({ validate, message }) => {
    const broken = testerWith({ validators: [validator('broken', validate)] });

    expect(await judge(broken, { answers: ['x'] })).toEqual({ kind: 'threw', message });
  });

  test('are stopped with the run', async () => {
    const controller = new AbortController();
    const slow = testerWith({
      validators: [
        validator('slow', () => {
          controller.abort();
          return new Promise(() => {});
        }),
      ],
    });

    const run = await runJudge(slow, judgeOrder({ answers: ['x'], validators: ['slow'] }), {
      attempt: 1,
      run: 'run-1',
      signal: controller.signal,
      graceMs: 5,
    });

    expect(run).toEqual({ kind: 'stopped' });
  });
});

describe('JSON answers', () => {
  const schema = z.object({ city: z.string(), days: z.number().default(3) });
  const agent = testerWith({ answer: jsonAnswer({ schema, validators: [] }) });

  test('that fit as they are come without a value', async () => {
    expect(await judge(agent, { answers: [{ days: 1, city: 'Rome' }] })).toMatchObject({
      result: { verdicts: [{ kind: 'accepted', value: { city: 'Rome', days: 1 } }] },
    });
    expect(await judge(agent, { answers: [{ city: 'Rome', days: 1 }] })).toEqual(
      judged({ verdicts: [{ kind: 'accepted' }] }),
    );
  });

  test('arrive with defaults', async () => {
    expect(await judge(agent, { answers: [{ city: 'Rome' }] })).toEqual(
      judged({ verdicts: [{ kind: 'accepted', value: { city: 'Rome', days: 3 } }] }),
    );
  });

  test('that do not fit are passed over, with their problems', async () => {
    expect(
      await judge(agent, { answers: [{ city: 5 }, 'Rome', { city: 'Rome', days: 1 }] }),
    ).toEqual(
      judged({
        verdicts: [
          { kind: 'unfit', problems: ['city: expected string, got number 5'] },
          { kind: 'unfit', problems: ['(value): expected object, got string "Rome"'] },
          { kind: 'accepted' },
        ],
      }),
    );
  });

  test('reach validators as checked values', async () => {
    const seen = vi.fn(() => ({ accepted: true as const }));
    const judgedAgent = testerWith({
      answer: jsonAnswer({
        schema: { type: 'object', properties: { page: { default: 1 } } },
        validators: [validator('seen', seen)],
      }),
    });

    await judge(judgedAgent, { answers: [{}] });

    expect(seen).toHaveBeenCalledExactlyOnceWith({ page: 1 }, expect.anything());
  });

  test('must stay JSON when a schema library changes them', async () => {
    const toDate = z.object({ day: z.iso.date().transform((day) => new Date(day)) });
    const toMap = z.object({ rows: z.array(z.string()).transform((rows) => new Set(rows)) });

    expect(
      await judge(testerWith({ answer: jsonAnswer({ schema: toDate }) }), {
        answers: [{ day: '1970-01-02' }],
      }),
    ).toEqual(
      judged({ verdicts: [{ kind: 'accepted', value: { day: '1970-01-02T00:00:00.000Z' } }] }),
    );
    expect(
      await judge(testerWith({ answer: jsonAnswer({ schema: toMap }) }), {
        answers: [{ rows: ['a'] }],
      }),
    ).toEqual(judged({ verdicts: [{ kind: 'unfit', problems: ['rows: Set is not JSON'] }] }));
  });

  test('fail the attempt when the schema library throws', async () => {
    const broken = z.object({ n: z.number() }).refine(() => {
      throw new Error('no network');
    });

    expect(
      await judge(testerWith({ answer: jsonAnswer({ schema: broken }) }), { answers: [{ n: 1 }] }),
    ).toEqual({ kind: 'threw', message: 'the schema of the answer: no network' });
  });
});

describe('structured sections', () => {
  const agent = testerWith({
    thinking: jsonSection({ name: 'plan', schema: { type: 'array' } }),
    sections: [
      textSection({ name: 'notes' }),
      yamlSection({
        name: 'facts',
        schema: z.object({ n: z.number(), unit: z.string().default('m') }),
      }),
    ],
  });

  test('are checked in order of appearance, beside the answers', async () => {
    expect(
      await judge(agent, {
        sections: [
          { name: 'facts', value: { n: 1 } },
          { name: 'plan', value: 'none' },
          { name: 'facts', value: { n: 2, unit: 'm' } },
          { name: 'notes', value: 'free' },
        ],
        answers: ['done'],
      }),
    ).toEqual(
      judged({
        verdicts: [{ kind: 'accepted' }],
        sections: [
          { problems: [], value: { n: 1, unit: 'm' } },
          { problems: ['(value): expected array, got string "none"'] },
          { problems: [] },
          { problems: [] },
        ],
      }),
    );
  });
});

test('validators hide values in feedback, in events and in what they throw', async () => {
  const VALUE = 'a-value-that-is-secret';
  const options = { attempt: 1, run: 'run-1', signal: quietSignal(), graceMs: 20 };
  const hide = (text: string): string => text.replaceAll(VALUE, '[redacted]');
  const ask = (validate: ValidatorOptions<Json>['validate']): Promise<JudgeRun> => {
    const agent = testerWith({ validators: [validator('leaky', validate)] });
    const order = judgeOrder({ validators: ['leaky'], answers: ['x'] });
    return runJudge(agent, order, { ...options, hide });
  };

  const refused = await ask((_answer, context) => {
    context.emit('leaky:saw', { text: VALUE });
    return { accepted: false, feedback: `Not ${VALUE}.` };
  });
  const threw = await ask(() => {
    throw new Error(`no ${VALUE}`);
  });

  expect(JSON.stringify([refused, threw])).not.toContain(VALUE);
  expect(refused).toMatchObject({
    result: {
      verdicts: [{ feedback: [{ name: 'feedback', content: 'Not [redacted].' }] }],
      events: [{ data: { text: '[redacted]' } }],
    },
  });
  expect(threw).toEqual({ kind: 'threw', message: 'validator leaky: no [redacted]' });
});
