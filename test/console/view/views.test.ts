import { describe, expect, it } from 'vitest';
import { lossText, lostTimeOf, type AttemptView } from '../../../src/console/view/attempts.ts';
import {
  agoText,
  bytesText,
  durationText,
  moneyText,
  numberText,
} from '../../../src/console/view/amounts.ts';
import { isBetweenTurns } from '../../../src/console/view/between-turns.ts';
import { barsOfLines, labelOf } from '../../../src/console/view/budgets.ts';
import { hasFlag, outlineOf } from '../../../src/console/view/outline.ts';
import { budgetsOf } from '../../../src/console/run-header.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { BudgetLine } from '../../../src/core/contract/messages.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { withEntries } from '../../../src/console/view/entries.ts';
import { foldIterations } from '../../../src/console/view/iterations.ts';
import { replyParts } from '../../../src/console/view/reply.ts';
import { spanText, timelineOf } from '../../../src/console/view/spans.ts';
import { streamed } from '../../../src/console/view/streamed-reply.ts';
import { timeAxis } from '../../../src/console/view/time-axis.ts';
import { treeRows } from '../../../src/console/view/tree-rows.ts';
import { STEP } from '../../cli/cli-fixture.ts';
import { fixtureRuns } from '../web/fixture-data.ts';
import { playedClerk } from './played-runs.ts';

describe('amounts', () => {
  it.each([
    [numberText(50_112), '50\u2009112'],
    [numberText(7), '7'],
    [moneyText(0), '$0'],
    [moneyText(45), '$0.000045'],
    [moneyText(1_427), '$0.0014'],
    [moneyText(500_000), '$0.50'],
    [moneyText(12_345_678), '$12.35'],
    [moneyText(1_996_000), '$2.00'],
    [moneyText(1_999_999_000), '$2\u2009000.00'],
    [durationText(885), '885 ms'],
    [durationText(1_900), '1.9 s'],
    [durationText(364_000), '6 min 4 s'],
    [durationText(532_800_000), '6 d 4 h'],
    [agoText(14_000), '14 s'],
    [agoText(10_800_000), '3 h'],
    [bytesText(34_611), '33.8 KB'],
  ])('%s is %s', (got, expected) => {
    expect(got).toBe(expected);
  });
});

describe('a reply that is being written', () => {
  it.each([
    ['<thin', []],
    ['<thinking>I lo', [['thinking', 'I lo', true]]],
    ['<thinking>I look.</thin', [['thinking', 'I look.', true]]],
    ['<thinking>I look.</thinking>', [['thinking', 'I look.', false]]],
    [
      '<thinking>a < b</thinking><answer>4 <',
      [
        ['thinking', 'a < b', false],
        ['answer', '4', true],
      ],
    ],
    ['Plain words, <b>bold</b>.', [['', 'Plain words, <b>bold</b>.', false]]],
    [
      '# thinking\nHm.\n# answer\nYes',
      [
        ['thinking', 'Hm.', false],
        ['answer', 'Yes', true],
      ],
    ],
  ])('%j shows no raw tag', (text, expected) => {
    const parts = replyParts(text).map((part) => [part.name, part.text, part.isOpen]);

    expect(parts).toEqual(expected);
  });

  it('is linear in the spaces of a heading', () => {
    const spaces = ' \t'.repeat(150_000);

    expect(replyParts(`# a${spaces}b`)).toHaveLength(1);
    expect(replyParts(`# thinking\nHm.\n# a${spaces}b`)).toHaveLength(1);
    expect(replyParts(`# answer${spaces}\nYes`)).toMatchObject([{ name: 'answer', text: 'Yes' }]);
  });

  it('is linear in a long line of tags that are not closed', () => {
    const text = '<answer>'.repeat(100_000);

    expect(replyParts(text)).toHaveLength(1);
  });

  it('loses its text at a restart, marks a gap, and ignores an earlier attempt', () => {
    const piece = { iteration: 1, attempt: 1, change: 'text', delta: 'one' } as const;
    const again = { ...piece, attempt: 2, change: 'restart', delta: '' } as const;
    const gap = { ...again, change: 'gap' } as const;
    const late = { ...piece, delta: 'late' } as const;
    const rest = { ...piece, attempt: 2, delta: 'two' } as const;

    expect(streamed(null, [piece, again, gap, late, rest])).toEqual({
      iteration: 1,
      attempt: 2,
      text: ' … two',
      reasoning: '',
      hasGap: true,
    });
  });

  it('comes whole when nobody read as it began, until it is asked for anew', () => {
    const place = { iteration: 1, attempt: 1, delta: '' } as const;
    const whole = streamed(null, [{ ...place, change: 'not_streamed' }]);

    expect(whole).toMatchObject({ text: '', comesWhole: true });
    expect(streamed(whole, [{ ...place, change: 'end' }])).toEqual(whole);
    const again = streamed(whole, [{ ...place, attempt: 2, change: 'restart' }]);
    expect(again).not.toHaveProperty('comesWhole');
  });
});

describe('budgets', () => {
  const line = { origin: 'self', reserved: 0, free: 0 } as const;

  it('stand tightest first, in words, amber from 70 % and red from 90 %', () => {
    const bars = barsOfLines([
      { ...line, key: 'agent:total_tokens', max: 100, used: 10, reserved: 5 },
      { ...line, key: 'agent:cost_microusd', max: 100, used: 70 },
      { ...line, key: 'agent:model_calls', max: 10, used: 9 },
    ]);

    expect(bars.map(({ label, tone }) => [label, tone])).toEqual([
      ['Model calls', 'hot'],
      ['Cost', 'warm'],
      ['Tokens', 'calm'],
    ]);
  });

  it.each([
    ['agent:cost_microusd', 'Cost'],
    ['agent:tool_calls:search', 'Tool calls of search'],
    ['$self:agent:total_tokens', 'Tokens, own'],
    ['editor:rounds', 'editor:rounds'],
    ['__proto__', '__proto__'],
  ])('%s is %s', (key, label) => {
    expect(labelOf(key)[0]).toBe(label);
  });
});

describe('limits that count a run alone', () => {
  it('are named so only beside one that counts all below', () => {
    const line = (key: string, used: number): BudgetLine => ({
      key,
      origin: 'self',
      max: 10,
      used,
      reserved: 0,
      free: 10 - used,
    });
    const own = line('$self:agent:iterations', 7);

    expect(barsOfLines([own]).map(({ label }) => label)).toEqual(['Iterations']);
    expect(barsOfLines([own, line('agent:iterations', 9)]).map(({ label }) => label)).toEqual([
      'Iterations',
      'Iterations, own',
    ]);
  });

  it('are shown with those of the tree, and the depth, which nothing uses up, is not', () => {
    const stats = { counters: { '$self:agent:iterations': 9 }, gauges: {} };
    const exact = { kind: 'exact' as const };
    const limits = [
      { ...exact, key: 'agent:children', max: 100 },
      { ...exact, key: '$self:agent:iterations', max: 10 },
      { ...exact, key: 'agent:depth', max: 5 },
    ];
    const children = { key: 'agent:children', origin: 'self' as const, reserved: 0 };
    const budgets = [{ ...children, max: 100, used: 3, free: 97 }];

    expect(budgetsOf({ budgets, limits, stats }).map(({ key, used }) => [key, used])).toEqual([
      ['$self:agent:iterations', 9],
      ['agent:children', 3],
    ]);
  });
});

describe('attempts', () => {
  const first: AttemptView = { work: 'model', iteration: 3, attempt: 1, scheduledAt: 1_000 };

  it('tell of the lost worker, why, and when another went on', () => {
    const reason = 'activity Heartbeat timeout';
    const lost: AttemptView = { ...first, endedAt: 4_000, worker: '1@a', outcome: 'lost', reason };
    const again: AttemptView = { ...first, attempt: 2, startedAt: 7_000, worker: '2@b' };
    const found = {
      from: 1_000,
      note: 'worker 1 lost: heartbeat timeout',
      attempt: 1,
      noticedAt: 4_000,
      worker: '1',
      reason: 'heartbeat timeout',
    };

    expect(lostTimeOf([lost])).toEqual(found);
    expect(lostTimeOf([lost, again])).toEqual({ ...found, to: 7_000, nextWorker: '2' });
    const more = lostTimeOf([lost, { ...lost, attempt: 2 }, { ...lost, attempt: 3 }]);
    expect(more).toMatchObject({ attempt: 3, earlier: 2 });
    expect(more && lossText(more, String)).toMatch(/^Attempt 3 was lost: .* So were 2 before\./);
    expect(lostTimeOf([{ ...first, startedAt: 1_020 }])).toBeNull();
  });

  it('are joined to the span of their call, with the text in its name', async () => {
    const airline = (await fixtureRuns()).find(({ id }) => id.startsWith('airline'));
    const views = foldIterations([], airline?.events ?? []);
    const { spans } = timelineOf(views, airline?.attempts);
    const lost = spans.filter((span) => span.lost !== undefined);

    expect(lost.map((span) => spanText(span))).toEqual([
      'script/airline-yaml, iteration 3, 7.7 s, worker 15401 lost: heartbeat timeout, 2 attempts',
    ]);
  });
});

describe('a read beside its reply', () => {
  it('has a span as long as it took, though it is recorded when the reply is whole', () => {
    const place = { iteration: 1, agentPath: 'clerk/1', callId: '1.1', tool: 'look', args: {} };
    const end = { outcome: 'ok', output: 'seen', attempts: 1, durationMs: 300 };
    const events = [
      { type: 'agent:tool_call:before', seq: 1, at: 5_000, ...place },
      { type: 'agent:tool_call:after', seq: 2, at: 5_000, ...place, ...end },
    ] as unknown as readonly AgentEvent[];
    const { spans } = timelineOf(foldIterations([], events));

    expect(spans.map((span) => spanText(span))).toEqual(['look, iteration 1, 300 ms']);
  });
});

describe('the first token', () => {
  it('is shown where the run has recorded it', async () => {
    const airline = (await fixtureRuns()).find(({ id }) => id.startsWith('airline'));
    const [first, ...others] = airline?.events.flatMap((event) =>
      event.type === 'agent:model_call:after' ? [event.seq] : [],
    ) ?? [0];
    const events = airline?.events.map((event) =>
      event.seq === first ? { ...event, firstTokenMs: 310 } : event,
    );
    const views = foldIterations([], events ?? []);
    const texts = timelineOf(views, airline?.attempts)
      .spans.filter(({ kind }) => kind === 'model')
      .map((span) => spanText(span));

    expect(views.flatMap(({ models }) => models.map((model) => model.firstTokenMs))).toEqual([
      310,
      ...others.map(() => undefined),
    ]);
    expect(texts.filter((text) => text.includes('first token 310 ms'))).toHaveLength(1);
  });
});

describe('the time axis', () => {
  it('folds a long wait, and keeps order', () => {
    const span = (from: number, to: number): Parameters<typeof timeAxis>[0][number] => ({
      id: String(from),
      lane: 'model',
      kind: 'model',
      label: 'm',
      iteration: 1,
      from,
      to,
      isFailed: false,
      attempts: 1,
    });
    const week = 7 * 86_400_000;
    const axis = timeAxis([span(0, 2_000), span(week, week + 2_000)], 0, week + 2_000);
    const places = [0, 1_000, 2_000, week / 2, week, week + 1_000, week + 2_000].map((at) =>
      axis.place(at),
    );

    expect(axis.folds.map(({ text }) => text)).toEqual(['waited 7 d']);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
    expect(axis.place(2_000)).toBeGreaterThan(0.4);
  });
});

describe('a turn of a conversation', () => {
  it('shows what was said beside its number, and inputs of the turn after it', () => {
    const base = { runId: 'r', agent: 'a', agentPath: 'a', depth: 0, at: 1, iteration: 1 };
    const step = { ...STEP, status: 'limit_exceeded' as const };
    const events: readonly AgentEvent[] = [
      { ...base, seq: 1, type: 'agent:turn:after', turn: 1, step },
      {
        ...base,
        seq: 2,
        type: 'agent:turn:before',
        turn: 2,
        messageId: 'm2',
        limits: [],
        by: 'ada',
      },
      { ...base, seq: 3, type: 'agent:input', inputId: 'm3', kind: 'steer', position: 1 },
      {
        ...base,
        seq: 4,
        type: 'agent:turn:before',
        turn: 3,
        messageId: 'm4',
        instead: 'm2',
        limits: [],
      },
    ];
    const entries = ['two', 'quick', 'three'].map((text, index): Entry => ({
      index,
      iteration: 1,
      origin: 'input',
      messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    }));

    const [view] = withEntries(foldIterations([], events), entries);

    expect(view?.marks.map(({ kind, text, detail }) => [kind, text, detail])).toEqual([
      ['turn', 'Turn 1 ended: limit_exceeded', undefined],
      ['said', 'Turn 2 by ada', 'two'],
      ['input', 'steer', 'quick'],
      ['said', 'Turn 3, in place of earlier ones', 'three'],
    ]);
  });

  it('is not taken for what the conversation has brought along', () => {
    const base = { runId: 'r', agent: 'a', agentPath: 'a', depth: 0, at: 1, iteration: 0 };
    const begun = { type: 'agent:turn:before', turn: 1, messageId: 'm1', limits: [] } as const;
    const entries = ['long ago', 'one'].map((text, index): Entry => ({
      index,
      iteration: 0,
      origin: 'input',
      messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    }));

    const [view] = withEntries(foldIterations([], [{ ...base, seq: 2, ...begun }]), entries);

    expect(view?.marks.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['input', 'long ago'],
      ['said', 'one'],
    ]);
  });

  it.each([
    [{ state: 'waiting', waitsFor: ['message'] }, true],
    [{ state: 'waiting', waitsFor: ['question q1'] }, false],
    [{ state: 'waiting', waitsFor: [] }, false],
    [{ state: 'running', waitsFor: ['model message'] }, false],
  ] as const)('is over in %j: %s', (progress, isOver) => {
    expect(isBetweenTurns(progress)).toBe(isOver);
  });
});

describe('a tree', () => {
  it('is rows by depth that close', async () => {
    const usage = { totalTokens: 10, costMicroUsd: 5 };
    const node = (id: string, parent: string | null, children: readonly string[]): never =>
      ({ id, parent, children, agent: 'a', usage, budgets: [], waitsFor: [] }) as never;
    const nodes = [
      node('r', null, ['r/1.1']),
      node('r/1.1', 'r', ['r/1.1/2.1']),
      node('r/1.1/2.1', 'r/1.1', []),
    ];

    expect(treeRows(nodes, 'r').map(({ call, level }) => [call, level])).toEqual([
      ['', 0],
      ['1.1', 1],
      ['2.1', 2],
    ]);
    expect(treeRows(nodes, 'r', new Set(['r'])).map(({ hidden }) => hidden)).toEqual([2]);
  });
});

describe('the clerk', () => {
  it('shows approvals, who said no, the question and the program', async () => {
    const run = await playedClerk();
    const view = foldIterations([], run.events).find(({ number }) => number === 1);

    expect(view?.waits.map(({ kind, result }) => [kind, result])).toEqual([
      ['approval', 'approve'],
      ['approval', 'approve'],
      ['approval', 'deny'],
    ]);
    expect(view?.programs.map(({ outcome }) => outcome)).toEqual(['error']);
  });
});

describe('a model call that was stopped', () => {
  it.each([
    ['aborted', false],
    ['model_error', true],
  ])('with the code %s: drawn as failed is %s', async (code, isFailed) => {
    const airline = (await fixtureRuns()).find(({ id }) => id.startsWith('airline'));
    const events = (airline?.events ?? []).map((event) =>
      event.type === 'agent:model_call:after' && event.iteration === 1
        ? { ...event, error: { code, message: 'it ended' } }
        : event,
    );
    const views = foldIterations([], events).filter(({ number }) => number === 1);

    const [call] = timelineOf(views).spans.filter(({ kind }) => kind === 'model');
    expect(call).toMatchObject({ isFailed });
    expect(outlineOf(views).map((row) => hasFlag(row, 'failed'))).toEqual([isFailed]);
  });
});
