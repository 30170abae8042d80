import { describe, expect, it, vi } from 'vitest';
import type { LiveFrame } from '../../src/console/live-frames.ts';
import { Tab } from '../../src/console/live/tab.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { Entry } from '../../src/core/contract/entry.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { leavable } from '../../src/client/streaming/run-stream.ts';
import type { FeedMark, PushedEvent } from '../../src/core/streaming/chunk.ts';
import { pushed } from '../support/chunks.ts';
import { passing } from '../support/passing.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { consoleStage, type ConsoleStage } from './console-stage.ts';

const TIMES = { everyMs: 20, silentMs: 200, keptMs: 50, pingMs: 50 };

/** A tab that keeps what it hears. */
interface TestTab {
  readonly frames: readonly LiveFrame[];
  readonly of: <Kind extends LiveFrame['kind']>(
    kind: Kind,
  ) => readonly Extract<LiveFrame, { readonly kind: Kind }>[];
  readonly connection: () => Promise<string>;
  readonly leave: () => Promise<void>;
}

/** Opens `/live` and reads it. */
async function openTab({ request }: ConsoleStage, query = ''): Promise<TestTab> {
  const answer = await request(`/api/v1/live${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const reader = (answer.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const frames: LiveFrame[] = [];
  let rest = '';
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const texts = `${rest}${value}`.split('\n\n');
      rest = texts.pop() ?? '';
      for (const text of texts) {
        const [, kind = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(text) ?? [];
        frames.push({ kind, ...(JSON.parse(data) as object) } as LiveFrame);
      }
    }
  };
  void read().catch(() => undefined);
  const of: TestTab['of'] = (kind) =>
    frames.filter(
      (frame): frame is Extract<LiveFrame, { kind: typeof kind }> => frame.kind === kind,
    );
  return {
    frames,
    of,
    connection: () =>
      passing(() => {
        const [hello] = of('hello');
        if (hello === undefined) throw new Error('Expected a hello.');
        return hello.connection;
      }),
    leave: () => reader.cancel(),
  };
}

async function decide(stage: ConsoleStage, run: string): Promise<void> {
  const handle = stage.everloop.attach(run);
  await passing(async () => expect(await handle.pending()).toHaveLength(3));
  await handle.answer('q1', 1);
  await handle.decide('1.2', { approve: true });
  await handle.answer('1.3', 'built');
}

function seqs(frames: readonly { readonly event: AgentEvent }[]): readonly number[] {
  return frames.map(({ event }) => event.seq);
}

function upTo(last: number, first = 1): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
}

describe('the live feed', () => {
  it('gives a run as it is, then each event once and in order, to its end', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage, '?run=clerk-1&after=0');

    await passing(() => expect(tab.of('snapshot')).toHaveLength(1));
    await decide(stage, 'clerk-1');
    await passing(() => expect(tab.of('step')).toMatchObject([{ step: { status: 'success' } }]));
    const events = await stage.everloop.attach('clerk-1').events();
    await passing(() => expect(seqs(tab.of('event'))).toEqual(upTo(events.length)));

    expect(tab.frames[0]).toMatchObject({ kind: 'hello' });
    expect(tab.of('event').at(-1)).toMatchObject({
      run: 'clerk-1',
      event: { type: 'agent:execution:after' },
    });
    await tab.leave();
  });

  it('begins with now for a tab that names no event, and goes on after one that it names', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const [now, later] = [await openTab(stage, '?run=clerk-1'), await openTab(stage)];
    const connection = await later.connection();
    await passing(() => expect(now.of('snapshot')).toHaveLength(1));
    const first = now.of('snapshot')[0]?.header.lastSeq ?? 0;
    const put = await stage.ask(`/api/v1/live/${connection}`, {
      method: 'PUT',
      body: { run: 'clerk-1', after: 2 },
      headers: { origin: 'http://127.0.0.1:8234' },
    });
    expect(put.status).toBe(204);

    await decide(stage, 'clerk-1');
    await passing(() => expect(now.of('step')).toHaveLength(1));
    const events = await stage.everloop.attach('clerk-1').events();
    await passing(() => {
      const last = events.length;
      expect(seqs(now.of('event'))).toEqual(upTo(last, first + 1));
      expect(seqs(later.of('event'))).toEqual(upTo(last, 3));
    });
  });

  it('tells what was written once it is recorded, without calls and results', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(tab.of('snapshot')).toHaveLength(1));
    await decide(stage, 'clerk-1');
    await passing(() => expect(tab.of('step')).toHaveLength(1));

    const recorded = await stage.everloop.attach('clerk-1').transcript();
    const written = (entries: readonly Entry[]): readonly (readonly [number, string])[] =>
      entries
        .filter(({ origin }) => origin === 'original')
        .map(({ iteration, messages }) => [
          iteration,
          messages
            .filter(({ role }) => role === 'assistant')
            .flatMap(({ parts }) =>
              parts.flatMap((part) => (part.type === 'text' ? part.text : [])),
            )
            .join(''),
        ]);
    const told = tab.of('entries').flatMap(({ entries }) => entries);
    expect(written(recorded).length).toBeGreaterThan(1);
    expect(written(told)).toEqual(written(recorded));
    expect(JSON.stringify(told)).not.toMatch(/tool_(call|result)/);
    await tab.leave();
  });

  it('follows a run once for all tabs, and no longer when they have left', async () => {
    let asked = 0;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      attach: (id) => counting(everloop.attach(id), () => (asked += 1)),
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });

    const tabs = await Promise.all(upTo(8).map(() => openTab(stage, '?run=clerk-1')));
    for (const tab of tabs) await passing(() => expect(tab.of('snapshot')).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const whileOpen = asked;
    for (const tab of tabs) await tab.leave();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const afterwards = asked;
    await new Promise((resolve) => setTimeout(resolve, 1_200));

    // The header, then a burst, then two a second.
    expect(whileOpen).toBeLessThanOrEqual(12);
    expect(asked).toBe(afterwards);
  });

  it('follows only some of the runs that a tab has looked at in passing', async () => {
    const asked = new Set<string>();
    const stage = consoleStage(
      peopleAgents(),
      { times: { ...TIMES, keptMs: 60_000 } },
      (everloop) => ({
        ...everloop,
        attach: (id) => {
          const run = { ...everloop.attach('clerk-1'), id };
          return { ...run, view: () => (asked.add(id), run.view()) };
        },
      }),
    );
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage);
    const path = `/api/v1/live/${await tab.connection()}`;
    const look = (body: object): Promise<unknown> =>
      stage.ask(path, { method: 'PUT', body, headers: { origin: 'http://127.0.0.1:8234' } });

    for (const number of upTo(70)) await look({ run: `r-${number}` });
    await look({});
    await passing(() => expect(asked.size).toBeGreaterThanOrEqual(50));
    // What was asked for at the end of a follower is over.
    await new Promise((resolve) => setTimeout(resolve, 500));
    asked.clear();
    await passing(() => expect(asked.size).toBe(50));
    await new Promise((resolve) => setTimeout(resolve, 1_200));

    expect(asked.size).toBe(50);
    stage.console.close();
  });

  it('gives pushed events at once, and says what of them does not hold', async () => {
    const items: (PushedEvent | FeedMark)[] = [{ kind: 'feed', feed: 'pushed' }];
    let reads = 0;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      attach: (id) => ({
        ...everloop.attach(id),
        events: (range) => ((reads += 1), everloop.attach(id).events(range)),
        async *pushedEvents() {
          for (;;) {
            const item = items.shift();
            if (item !== undefined) yield item;
            else await new Promise((resolve) => setTimeout(resolve, 5));
          }
        },
      }),
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    await passing(async () =>
      expect(await stage.everloop.attach('clerk-1').pending()).toHaveLength(3),
    );
    const tab = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(tab.of('snapshot').at(-1)).toMatchObject({ feed: 'pushed' }));
    const { lastSeq } = tab.of('snapshot')[0]!.header;
    const before = reads;

    items.push(pushed(lastSeq + 1), pushed(lastSeq + 2), pushed(lastSeq + 2));
    await passing(() => expect(seqs(tab.of('event'))).toEqual([lastSeq + 1, lastSeq + 2]));
    expect(reads).toBe(before);
    items.push(pushed(lastSeq + 2, { type: 'agent:paused' }));
    await passing(() => expect(tab.of('event')).toHaveLength(3));

    expect(tab.of('rewound')).toMatchObject([{ run: 'clerk-1', last: lastSeq + 1 }]);
    expect(tab.of('event').at(-1)).toMatchObject({
      event: { seq: lastSeq + 2, type: 'agent:paused' },
    });
    // A mark says that some may be missing.
    items.push({ kind: 'feed', feed: 'polled' });
    await passing(() => expect(tab.of('snapshot').at(-1)).toMatchObject({ feed: 'polled' }));
    expect(reads).toBeGreaterThan(before);
    await tab.leave();
  });

  it('says that a run is silent, and gives a new snapshot when a worker answers again', async () => {
    let isSilent = false;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      attach: (id) => {
        const run = everloop.attach(id);
        const view = async (): Promise<Awaited<ReturnType<RunHandle['view']>>> => {
          if (isSilent) await passing(() => expect(isSilent).toBe(false), 10_000);
          return run.view();
        };
        return { ...run, view };
      },
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(tab.of('snapshot')).toHaveLength(1));

    isSilent = true;
    await passing(() => expect(tab.of('silent')).toHaveLength(1));
    expect(tab.of('silent')).toMatchObject([{ run: 'clerk-1', message: /everloop worker/ }]);
    await decide(stage, 'clerk-1');
    isSilent = false;

    await passing(() => expect(tab.of('step')).toHaveLength(1));
    expect(tab.of('snapshot')).toHaveLength(2);
    expect(tab.of('silent')).toHaveLength(1);
  });

  it('keeps a run silent whose news were read from its history', async () => {
    let asOf: number | undefined;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      attach: (id) => {
        const run = everloop.attach(id);
        const view = async (): Promise<Awaited<ReturnType<RunHandle['view']>>> => {
          const read = await run.view();
          if (asOf === undefined) return read;
          // The timer for a run that does not answer is over before the history is read.
          await passing(() => expect(tab.of('silent').length).toBeGreaterThan(0));
          return { ...read, status: { ...read.status, asOf, version: read.status.version + 1 } };
        };
        return { ...run, view };
      },
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(tab.of('snapshot')).toHaveLength(1));
    const before = tab.of('status').length;
    asOf = 20;

    await passing(() => expect(tab.of('status').length).toBeGreaterThan(before));
    expect(tab.of('status').at(-1)).toMatchObject({ state: 'silent', status: { asOf } });
    // Told again after news, for a tab that has loaded the run meanwhile.
    await passing(() => expect(tab.of('silent').length).toBeGreaterThan(1));
    asOf = undefined;
    await passing(() => expect(tab.of('snapshot')).toHaveLength(2));
    await passing(() => expect(tab.of('status').at(-1)).toMatchObject({ state: 'waiting' }));
    await tab.leave();
  });

  it('gives no past of a run that was silent from the start, but what comes after', async () => {
    let isSilent = true;
    const stage = consoleStage(peopleAgents(), { times: TIMES, answerMs: 200 }, (everloop) => ({
      ...everloop,
      attach: (id) => {
        const run = everloop.attach(id);
        const view = async (): Promise<Awaited<ReturnType<RunHandle['view']>>> => {
          if (isSilent) throw new UsageError('no_worker', 'Expected a worker, got none.');
          return run.view();
        };
        return { ...run, view };
      },
    }));
    const run = await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    await passing(async () => expect(await run.pending()).toHaveLength(3));
    const tab = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(tab.of('snapshot')).toMatchObject([{ header: { status: null } }]));
    isSilent = false;
    await passing(() => expect(tab.of('snapshot')).toHaveLength(2));
    const { lastSeq = 0 } = tab.of('snapshot')[1]?.header ?? {};

    await decide(stage, 'clerk-1');
    await passing(() => expect(tab.of('step')).toHaveLength(1));

    expect(lastSeq).toBeGreaterThan(0);
    expect(seqs(tab.of('event'))[0]).toBe(lastSeq + 1);
  });

  it('gives what waits to the inbox, and rows to the list, when they change', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    const tab = await openTab(stage, '?inbox=true&list=true');
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });

    await passing(() => expect(tab.of('pending')).toHaveLength(3));
    expect(tab.of('row').at(-1)).toMatchObject({ row: { id: 'clerk-1', state: 'waiting' } });
    await decide(stage, 'clerk-1');
    await passing(() => expect(tab.of('settled')).toHaveLength(3));
    await passing(() =>
      expect(tab.of('row').at(-1)).toMatchObject({ row: { state: 'completed' } }),
    );
    await passing(() => expect(tab.of('ping').length).toBeGreaterThan(0));
  });

  it('reads the lists soon when workers tell of a change, but not for each', async () => {
    const items: PushedEvent[] = [];
    let [lists, inboxes, hearing] = [0, 0, 0];
    const stage = consoleStage([], { times: { ...TIMES, everyMs: 60_000 } }, (everloop) => ({
      ...everloop,
      listPage: (query) => ((lists += 1), everloop.listPage(query)),
      inbox: (query) => ((inboxes += 1), everloop.inbox(query)),
      pushedEvents: () =>
        leavable(async function* (left) {
          hearing += 1;
          left.addEventListener('abort', () => (hearing -= 1));
          while (!left.aborted) {
            const item = items.shift();
            if (item !== undefined) yield item;
            else await new Promise((resolve) => setTimeout(resolve, 5));
          }
          return undefined;
        }),
    }));
    const tab = await openTab(stage, '?inbox=true&list=true');
    await passing(() => expect([lists, inboxes, hearing]).toEqual([1, 1, 1]));

    items.push(pushed(1));
    for (let seq = 2; seq < 50; seq++) items.push(pushed(seq, { type: 'agent:paused' }));
    await passing(() => expect([lists, inboxes]).toEqual([2, 2]));
    await passing(() => expect(items).toEqual([]));

    await tab.leave();
    await passing(() => expect(hearing).toBe(0));
    expect(lists).toBeLessThan(5);
  });

  it('says of a run that is not there that it cannot be followed, and refuses a wrong id', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    const tab = await openTab(stage, '?run=nobody');

    await passing(() =>
      expect(tab.of('failed')).toMatchObject([{ run: 'nobody', error: { code: 'run_not_found' } }]),
    );
    const put = { method: 'PUT', body: {}, headers: { origin: 'http://127.0.0.1:8234' } };
    expect(await stage.ask('/api/v1/live/another', put)).toMatchObject({ status: 404 });
  });

  it('tells a list that the server is away once, and goes on when it is back', async () => {
    let isAway = true;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      listPage: async (options) => {
        if (isAway) throw new UsageError('no_server', 'Expected a server, got none.');
        return everloop.listPage(options);
      },
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const tab = await openTab(stage, '?list=true');

    await passing(() => expect(tab.of('failed')).toMatchObject([{ error: { code: 'no_server' } }]));
    isAway = false;
    await passing(() => expect(tab.of('row')).not.toEqual([]));
    expect(tab.of('failed')).toHaveLength(1);
  });

  it('tells a tab that comes later why a list cannot be read', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      inbox: async () => {
        throw new UsageError('no_server', 'Expected a server, got none.');
      },
    }));
    const tabs = [await openTab(stage, '?inbox=true')];
    await passing(() => expect(tabs[0]?.of('failed')).toHaveLength(1));
    tabs.push(await openTab(stage, '?inbox=true'));

    await passing(() =>
      expect(tabs[1]?.of('failed')).toMatchObject([{ error: { code: 'no_server' } }]),
    );
  });

  it('follows a run that began after a tab had asked for it in vain', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    const early = await openTab(stage, '?run=clerk-1');
    await passing(() => expect(early.of('failed')).toHaveLength(1));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const late = await openTab(stage, '?run=clerk-1&after=0');

    await passing(() => expect(late.of('snapshot')).toHaveLength(1));
    await passing(() => expect(late.of('event')).not.toEqual([]));
    expect(late.of('failed')).toEqual([]);
  });

  it('reads the past of a quiet run again when that failed once', async () => {
    // That of the header, and that of the tab.
    let failures = 2;
    const stage = consoleStage(peopleAgents(), { times: TIMES }, (everloop) => ({
      ...everloop,
      attach: (id) => {
        const run = everloop.attach(id);
        return {
          ...run,
          events: async (options) => {
            if (options?.from === 0 && failures-- > 0) throw new UsageError('no_worker', 'No.');
            return run.events(options);
          },
        };
      },
    }));
    await stage.everloop.start('clerk', { id: 'clerk-1', task: 'Pay.' });
    const handle = stage.everloop.attach('clerk-1');
    await passing(async () => expect(await handle.pending()).toHaveLength(3));
    const tab = await openTab(stage, '?run=clerk-1&after=0');

    const { length } = await handle.events();
    await passing(() => expect(seqs(tab.of('event'))).toEqual(upTo(length)));
  });

  it('takes at most two hundred tabs', async () => {
    const stage = consoleStage(peopleAgents(), { times: TIMES });
    const tabs = await Promise.all(upTo(200).map(() => openTab(stage)));

    expect(await stage.ask('/api/v1/live')).toMatchObject({ status: 503, body: { code: 'busy' } });
    await tabs[0]?.leave();
    await (await openTab(stage)).leave();
    stage.console.close();
  });

  it('gives up the place of a tab that reads nothing, and keeps none for a HEAD', async () => {
    const stage = consoleStage(peopleAgents(), { times: { ...TIMES, pingMs: 10 } });
    const unread = (method: string): Promise<Response> => stage.request('/api/v1/live', { method });
    await Promise.all(upTo(200).map(() => unread('HEAD')));
    const opened = await Promise.all(upTo(200).map(() => unread('GET')));

    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    // The tabs that do not read are gone after twelve pings.
    await passing(async () => expect((await unread('GET')).status).toBe(200));
    stage.console.close();
  });
});

/** A handle whose queries are counted. */
function counting(run: RunHandle, count: () => void): RunHandle {
  return {
    ...run,
    view: () => (count(), run.view()),
    events: (range) => (count(), run.events(range)),
    pending: () => (count(), run.pending()),
    status: () => (count(), run.status()),
  };
}

describe('a slow tab', () => {
  const event = (seq: number): LiveFrame => ({
    kind: 'event',
    run: 'r',
    event: { seq } as AgentEvent,
  });
  const text = (delta: string): LiveFrame => ({
    kind: 'text',
    run: 'r',
    iteration: 1,
    attempt: 1,
    change: 'text',
    delta,
  });

  it('loses text, reads a mark in its place, and holds no more of it than it may', async () => {
    const tab = new Tab();

    for (let piece = 0; piece < 10_000; piece++) tab.push(text('x'.repeat(1_000)));

    const frames = [await tab.next(), await tab.next()];
    expect(frames[0]).toMatchObject({ kind: 'text', change: 'text' });
    expect(frames[0]?.kind === 'text' && frames[0].delta.length).toBeLessThanOrEqual(262_144);
    expect(frames[1]).toMatchObject({ kind: 'text', change: 'gap', delta: '' });
  });

  it('takes events up to a bound, and asks for the others when it has room', async () => {
    const onRoom = vi.fn();
    const tab = new Tab(onRoom);
    let offered = 0;
    while (tab.hasRoom()) tab.push(event((offered += 1)));

    expect(offered).toBe(1_000);
    for (let read = 0; read < 499; read++) await tab.next();
    expect(onRoom).not.toHaveBeenCalled();
    await tab.next();

    expect(onRoom).toHaveBeenCalledOnce();
    expect(tab.hasRoom()).toBe(true);
  });

  it('keeps only the newest of rows that replace each other', async () => {
    const tab = new Tab();
    const row = (id: string, task: string): LiveFrame =>
      ({ kind: 'row', row: { id, task } }) as LiveFrame;

    tab.push(row('a', 'old'));
    tab.push(row('b', 'one'));
    tab.push(row('a', 'new'));

    expect([await tab.next(), await tab.next()]).toMatchObject([
      { row: { id: 'b' } },
      { row: { id: 'a', task: 'new' } },
    ]);
  });

  it('is closed when it has read nothing for a minute, or far too much waits', async () => {
    const [sleeping, flooded] = [new Tab(), new Tab()];

    for (let ping = 0; ping < 13; ping++) sleeping.push({ kind: 'ping', at: ping });
    for (let item = 0; item < 5_001; item++) {
      flooded.push({ kind: 'settled', run: 'r', id: String(item) });
    }

    expect(await sleeping.next()).toBeNull();
    expect(await flooded.next()).toBeNull();
  });
});
