/** Structured sections in a run: what is kept of them, what is told, and that they stop nothing. */
import { describe, expect, it } from 'vitest';
import { jsonSection, yamlSection } from '../../../src/define/agent/reply-layout.ts';
import type { EventBody } from '../../../src/core/contract/events.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ReplyProblem } from '../../../src/core/base/problem.ts';
import { act, answer, bodyOf, startRun } from '../../support/runs.ts';

const schema = {
  type: 'object',
  properties: { step: { type: 'integer' }, note: { type: 'string', default: 'none' } },
  required: ['step'],
};
const sections = [jsonSection({ name: 'plan', schema }), yamlSection({ name: 'rating', schema })];

const read = (name: string): EventBody => ({ type: 'agent:section:read', name });
const failed = (written: string, problem: ReplyProblem): EventBody => ({
  type: 'agent:parse_error',
  family: 'section',
  problems: [problem],
  raw: `${written}${act('a')}`,
});
const told = (name: string, problem: string): string =>
  `<error>\nThe section ${name} could not be read.\n- ${problem}\n</error>\n`;

interface Row {
  readonly name: string;
  readonly written: string;
  readonly values?: Json;
  readonly events: readonly EventBody[];
  readonly errors: string;
  readonly streak: number;
}

describe('[row 12] structured sections of a reply', () => {
  it.each<Row>([
    {
      name: 'are kept as they were checked, with defaults',
      written: '<plan>{"step": 1}</plan><rating>step: 2\nnote: 007</rating>',
      values: { plan: [{ step: 1, note: 'none' }], rating: [{ step: 2, note: '007' }] },
      events: [read('plan'), read('rating')],
      errors: '',
      streak: 0,
    },
    {
      name: 'are kept as a list when one comes twice',
      written: '<plan>{"step": 1}</plan><plan>{"step": 2, "note": "b"}</plan>',
      values: {
        plan: [
          { step: 1, note: 'none' },
          { step: 2, note: 'b' },
        ],
      },
      events: [read('plan'), read('plan')],
      errors: '',
      streak: 0,
    },
    {
      name: 'that cannot be read are told, and the call runs',
      written: '<plan>{"step": 1,}</plan>',
      events: [
        failed('<plan>{"step": 1,}</plan>', {
          code: 'json_syntax',
          message: 'line 1, column 12: expected a key in double quotes, got `}`',
          line: 1,
          column: 12,
        }),
      ],
      errors: told('plan', 'line 1, column 12: expected a key in double quotes, got `}`'),
      streak: 1,
    },
    {
      name: 'that do not fit are told, others are kept',
      written: '<plan>{"step": "x"}</plan><rating>step: 2</rating>',
      values: { rating: [{ step: 2, note: 'none' }] },
      events: [
        read('rating'),
        failed('<plan>{"step": "x"}</plan><rating>step: 2</rating>', {
          code: 'schema',
          message: 'step: expected integer, got string "x"',
        }),
      ],
      errors: told('plan', 'step: expected integer, got string "x"'),
      streak: 1,
    },
    {
      name: 'that are empty count as absent',
      written: '<plan> </plan>',
      events: [],
      errors: '',
      streak: 0,
    },
  ])('$name', async ({ written, values, events, errors, streak }) => {
    const { run, script } = startRun([`${written}${act('a')}`, answer()], { agent: { sections } });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value]).toEqual(['success', 'done']);
    expect(run.entries[0]?.metadata).toEqual(
      values === undefined ? undefined : { sections: values },
    );
    expect(
      run.events
        .filter(({ type }) => type === 'agent:section:read' || type === 'agent:parse_error')
        .map(bodyOf),
    ).toEqual(events);
    expect(textOf(script.requests[1]?.messages.at(-2) ?? { role: 'user', parts: [] })).toBe(
      `<observation>\n${errors}<search>\nhits for a\n</search>\n</observation>`,
    );
    expect(step.stats.gauges['agent:section_parse_error_consecutive'] ?? 0).toBe(streak);
    expect(step.stats.counters['agent:section_parse_error_total'] ?? 0).toBe(errors === '' ? 0 : 1);
  });

  it('that fail beside an answer keep no answer back', async () => {
    const { run, script } = startRun([`<plan>no</plan>${answer()}`], { agent: { sections } });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'done', 1]);
    expect(step.stats.counters['agent:section_parse_error_total']).toBe(1);
  });

  it('that fail four times in a row end the run', async () => {
    const { run } = startRun(
      Array.from({ length: 5 }, () => `<plan>no</plan>${act('a')}`),
      {
        agent: { sections },
      },
    );

    const step = await run.result;

    expect([step.status, step.reason, step.iterations]).toEqual([
      'limit_exceeded',
      'agent:section_parse_error_consecutive',
      4,
    ]);
  });
});
