/** A run of 5,000 iterations, made of views: with a day's wait, lost workers and hand-overs. */
import type { RunHeader } from '../../../src/console/api.ts';
import type { AttemptView } from '../../../src/console/view/attempts.ts';
import type { IterationView } from '../../../src/console/view/iteration-view.ts';
import { outlineOf } from '../../../src/console/view/outline.ts';
import { FIXTURE_NOW } from './fixture-data.ts';

/** Its id. */
export const MARATHON = 'research-marathon';

const ITERATIONS = 5_000;
const EACH_MS = 4_000;
const CALLS = ['search', 'fetch', 'note'];

const START = FIXTURE_NOW - ITERATIONS * EACH_MS - 86_400_000;

const views: readonly IterationView[] = Array.from({ length: ITERATIONS }, (_, index) =>
  viewOf(index + 1),
);

function viewOf(number: number): IterationView {
  // A day passes before iteration 4,970.
  const from = START + number * EACH_MS + (number > 4_969 ? 86_400_000 : 0);
  const modelMs = 900 + ((number * 37) % 1_400);
  const calls = CALLS.slice(0, 1 + (number % 3)).map((tool, place) => ({
    callId: `${number}.${place + 1}`,
    tool,
    args: { query: `topic ${number}` },
    from: from + modelMs,
    to: from + modelMs + 300 + place * 250,
    durationMs: 300 + place * 250,
    outcome: number % 611 === 0 ? ('error' as const) : ('ok' as const),
    output: `found ${number}`,
    attempts: 1,
    losses: 0,
  }));
  const usage = { inputTokens: 900, outputTokens: 60, cachedInputTokens: 700, reasoningTokens: 0 };
  const isHandover = number % 700 === 0;
  const mark = { seq: number * 10 + 9, at: from + 3_800, kind: 'handover' as const };
  return {
    number,
    firstSeq: number * 10,
    lastSeq: number * 10 + 9,
    from,
    to: (calls.at(-1)?.to ?? from) + ((number * 53) % 1_500),
    outcome: 'continue' as never,
    models: [
      {
        seq: number * 10 + 1,
        model: 'demo/scripted',
        purpose: 'reply',
        from,
        to: from + modelMs,
        durationMs: modelMs,
        firstTokenMs: 240,
        usage: { ...usage, costMicroUsd: 210 } as never,
        attempts: 1,
        losses: number === 4_990 ? 1 : 0,
        failures: [],
      },
    ],
    calls,
    waits: [],
    programs: [],
    marks: isHandover ? [{ ...mark, text: 'Link 1 handed over to link 2' }] : [],
    sections: [],
    reply: { reasoning: '', source: '', parts: [] },
  };
}

/** The answer to GET /runs/:id/`part` of this run. */
export function marathonAnswer(part: string | undefined, query: URLSearchParams): unknown {
  const lastSeq = views.at(-1)?.lastSeq ?? 0;
  switch (part) {
    case undefined:
      return { run: header(lastSeq) };
    case 'iterations': {
      const count = Number(query.get('count') ?? 50);
      const from = query.get('from');
      const first = from === null ? ITERATIONS - count : Math.max(0, Number(from) - 1);
      return { iterations: views.slice(first, first + count), lastSeq };
    }
    case 'outline':
      return { rows: outlineOf(views), lastSeq };
    case 'spans':
      return { attempts: attempts() };
    case 'links':
      return { links: [1, 2, 3].map((number) => link(number)) };
    default:
      return undefined;
  }
}

function attempts(): readonly AttemptView[] {
  const lost = views[4_989];
  if (lost === undefined) return [];
  const first = { work: 'model' as const, iteration: lost.number, attempt: 1 };
  const scheduledAt = lost.from;
  return [
    {
      ...first,
      scheduledAt,
      startedAt: scheduledAt + 20,
      endedAt: scheduledAt + 780,
      worker: '15401@machine',
      outcome: 'lost',
      reason: 'activity Heartbeat timeout',
    },
    {
      ...first,
      attempt: 2,
      scheduledAt: scheduledAt + 800,
      startedAt: scheduledAt + 900,
      worker: '15466@machine',
    },
  ];
}

function link(number: number): object {
  const startedAt = START + (number - 1) * 7_000_000;
  const closedAt = number === 3 ? null : startedAt + 7_000_000;
  const size = number === 3 ? 1_600 : 4_100;
  return { executionId: `0199-${number}`, startedAt, closedAt, events: size, bytes: size * 260 };
}

function header(lastSeq: number): RunHeader {
  const usage = {
    totalTokens: 4_800_000,
    costMicroUsd: 1_050_000,
    modelCalls: 5_000,
    toolCalls: 9_999,
  };
  const line = { origin: 'self' as const, reserved: 0, free: 0 };
  return {
    id: MARATHON,
    agent: 'research',
    task: 'Read everything that was written about the shop in Graz, and keep notes.',
    path: 'research',
    depth: 0,
    parent: null,
    startedAt: START,
    state: 'running',
    status: {
      version: lastSeq,
      state: 'running',
      runId: MARATHON,
      agent: 'research',
      iteration: ITERATIONS,
      waitsFor: ['model demo/scripted'],
      usage: usage as never,
      unreadInputs: 0,
      link: 3,
      events: lastSeq,
      entries: 0,
    },
    step: null,
    budgets: [{ ...line, key: 'agent:cost_microusd', max: 2_000_000, used: 1_050_000 }],
    pending: [],
    liveChildren: 0,
    lastSeq,
  };
}
