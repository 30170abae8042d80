/** What a scheduled run is told. */
import { describe, expect, it } from 'vitest';
import {
  scheduledContext,
  scheduledTask,
  type DatedStart,
} from '../../../src/core/start/scheduled-input.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { loadAgent } from '../../../src/registry/load-agent.ts';
import { createRegistry } from '../../../src/registry/registry.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';

const START: DatedStart = {
  id: 'nightly',
  time: '2026-11-22T23:30:00.000Z',
  timeZone: 'Europe/Vienna',
  date: '2026-11-23',
};
const TASK = '{{schedule.date}}: {{previous.value}}, {{previous.value.total}}, {{previous.status}}';

function filled(task: string, previous: DatedStart['previous'], own: JsonObject = {}): unknown {
  const start: DatedStart = previous === undefined ? START : { ...START, previous };
  return scheduledTask(task, scheduledContext(own, start));
}

describe('the task of a schedule', () => {
  it('has nothing of a run before it, if there was none', () => {
    expect(filled(TASK, null)).toEqual({ kind: 'text', text: '2026-11-23: , , ' });
    expect(
      filled('{{#previous}}Again.{{/previous}}{{^previous}}First.{{/previous}}', null),
    ).toEqual({ kind: 'text', text: 'First.' });
  });

  it('has the answer of the run before it, values as JSON', () => {
    const previous = { status: 'success', reason: 'answered', endedAt: null } as const;

    expect(filled(TASK, { ...previous, value: { total: 7 } })).toEqual({
      kind: 'text',
      text: '2026-11-23: {"total":7}, 7, success',
    });
    expect(filled(TASK, { ...previous, value: 'all {{schedule.id}}' })).toEqual({
      kind: 'text',
      text: '2026-11-23: all {{schedule.id}}, , success',
    });
  });

  it('has no hidden values, and says what is missing of the context', () => {
    expect(filled('{{_key}} {{topic}}', undefined, { _key: 'k' })).toEqual({
      kind: 'problem',
      message: 'missing: {{_key}} (line 1, column 1), {{topic}} (line 1, column 10)',
    });
  });
});

describe('[law 1] the task of a schedule', () => {
  it('multiplies data only up to a bound', () => {
    const list = Array.from({ length: 1_000 }, () => 'x');
    const nested = '{{#a}}'.repeat(20) + '{{.}}' + '{{/a}}'.repeat(20);
    const problem = {
      kind: 'problem',
      message: 'Expected a text of at most 1000000 characters, got more. Name less data.',
    };

    expect(filled(nested, undefined, { a: list })).toEqual(problem);
    expect(filled('{{#a}}'.repeat(20) + '{{/a}}'.repeat(20), undefined, { a: list })).toEqual(
      problem,
    );
    expect(filled('{{big}}'.repeat(60), undefined, { big: 'x'.repeat(20_000) })).toEqual(problem);
    const step = { status: 'success', reason: 'answered', endedAt: null } as const;
    const value = { text: 'x'.repeat(200_000) };
    expect(filled('{{previous.value}}'.repeat(9), { ...step, value })).toEqual(problem);
  });

  it('is refused with more than one payload can carry', () => {
    const agent = defineAgent({ name: 'clerk', mode: 'chat', model: async () => 'ok' });
    const { date: _date, ...scheduled } = START;
    const outcome = loadAgent(createRegistry({ agents: [agent] }), {
      v: 1,
      agent: 'clerk',
      task: { text: '{{big}}' },
      context: { big: 'x'.repeat(980_000) },
      scheduled,
    });

    expect(outcome).toMatchObject({
      kind: 'loaded',
      agent: {
        material: { task: { text: '' } },
        refusal: {
          code: 'invalid_input',
          message: expect.stringMatching(
            /^Expected task and context of a scheduled run, .* at most 1900000 bytes, got 19\d+\. Put large data behind a tool\.$/,
          ) as string,
        },
      },
    });
  });
});

describe('a scheduled start', () => {
  const agent = defineAgent({ name: 'clerk', mode: 'chat', model: async () => 'ok' });
  const registry = createRegistry({ agents: [agent] });
  const { date: _date, ...scheduled } = START;

  it('is recorded with its schedule, on the day of its time zone', () => {
    const outcome = loadAgent(registry, {
      v: 1,
      agent: 'clerk',
      task: { text: 'Digest of {{schedule.date}} for {{who}}' },
      context: { who: 'Ada' },
      scheduled: { ...scheduled, previous: null },
    });

    expect(outcome).toMatchObject({
      kind: 'loaded',
      agent: {
        material: {
          task: { text: 'Digest of 2026-11-23 for Ada' },
          context: {
            who: 'Ada',
            schedule: { id: 'nightly', time: '2026-11-22T23:30:00.000Z', date: '2026-11-23' },
            previous: null,
          },
        },
      },
    });
  });

  it('takes the day of UTC where a worker does not know the zone', () => {
    const outcome = loadAgent(registry, {
      v: 1,
      agent: 'clerk',
      task: { text: '{{schedule.date}}' },
      scheduled: { ...scheduled, timeZone: 'Mars/One' },
    });

    expect(outcome).toMatchObject({ agent: { material: { task: { text: '2026-11-22' } } } });
  });

  it('ends a run whose task cannot be filled in', () => {
    const outcome = loadAgent(registry, {
      v: 1,
      agent: 'clerk',
      task: { text: '{{gone}}' },
      scheduled,
    });

    expect(outcome).toMatchObject({
      agent: {
        refusal: { code: 'template_error', message: 'missing: {{gone}} (line 1, column 1)' },
      },
    });
  });
});
