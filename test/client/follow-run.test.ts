import { describe, expect, it } from 'vitest';
import { followRun, type FollowedRun, type RunUpdate } from '../../src/client/follow-run.ts';
import type { PendingItem, RunStatus } from '../../src/core/contract/messages.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { STEP } from '../cli/cli-fixture.ts';
import { chunk, marker } from '../support/chunks.ts';
import { gate } from '../support/runs.ts';

/** A run of the test's own making: what it says each time it is asked, and what streams. */
interface FakeRun {
  readonly run: FollowedRun;
  readonly end: (step: Step) => void;
}

function fakeRun(over: Partial<FollowedRun> = {}): FakeRun {
  const ended = gate<Step>();
  const run: FollowedRun = {
    status: async () => statusAt(1),
    pending: async () => [],
    result: () => ended.opened,
    stream: streaming([]),
    ...over,
  };
  return { run, end: (step) => ended.open(step) };
}

function statusAt(version: number, over: Partial<RunStatus> = {}): RunStatus {
  return { version, state: 'running', ...over } as RunStatus;
}

function question(id: string): PendingItem {
  return { id, kind: 'question', question: `${id}?`, free: false, agent: 'a', path: 'a', since: 0 };
}

/** Reads until `last` says so, then leaves. */
async function read(
  run: FollowedRun,
  isLast: (update: RunUpdate) => boolean = ({ kind }) => kind === 'step',
): Promise<readonly RunUpdate[]> {
  const seen: RunUpdate[] = [];
  for await (const update of followRun(run)) {
    seen.push(update);
    if (isLast(update)) break;
  }
  return seen;
}

function streaming(items: readonly (Chunk | ChunkMarker)[]): FollowedRun['stream'] {
  return async function* () {
    yield* items;
    await new Promise(() => undefined);
  };
}

describe('followRun', () => {
  it('gives text without what another attempt voids, duplicates and arguments', async () => {
    const { run } = fakeRun({
      status: () => new Promise(() => undefined),
      stream: streaming([
        chunk(1, 'Ro'),
        chunk(1, 'Ro'),
        chunk(2, 'think', { kind: 'reasoning' }),
        marker(1, 'restart', { attempt: 2 }),
        chunk(3, 'too late'),
        chunk(2, 'Vien', { attempt: 2 }),
        marker(3, 'gap', { attempt: 2 }),
        chunk(5, '{}', { attempt: 2, kind: 'tool_args' }),
        marker(6, 'end', { attempt: 2 }),
        // The marker of this attempt was lost.
        chunk(1, 'Is', { iteration: 2 }),
        chunk(2, 'It', { iteration: 2, attempt: 2 }),
        chunk(3, ' is', { iteration: 2, attempt: 2 }),
      ]),
    });

    const updates = await read(run, (one) => one.kind === 'text' && one.delta === ' is');

    expect(updates).toEqual([
      { kind: 'text', iteration: 1, delta: 'Ro' },
      { kind: 'reasoning', iteration: 1, delta: 'think' },
      { kind: 'restart', iteration: 1 },
      { kind: 'text', iteration: 1, delta: 'Vien' },
      { kind: 'gap', iteration: 1 },
      { kind: 'text', iteration: 2, delta: 'Is' },
      { kind: 'restart', iteration: 2 },
      { kind: 'text', iteration: 2, delta: 'It' },
      { kind: 'text', iteration: 2, delta: ' is' },
    ]);
  });

  it('tells what waits and what does not any more, then the Step [sub 17]', async () => {
    const looks = [[], [question('q1'), question('q2')], [question('q2')]];
    let version = 0;
    const { run, end } = fakeRun({
      status: async () => statusAt((version += version < looks.length ? 1 : 0)),
      pending: async () => looks[version - 1] ?? [],
    });

    const updates = await read(run, (one) => {
      if (one.kind === 'status' && one.status.version === looks.length) end(STEP);
      return one.kind === 'step';
    });

    expect(updates).toEqual([
      { kind: 'status', status: statusAt(1) },
      { kind: 'status', status: statusAt(2) },
      { kind: 'pending', item: question('q1') },
      { kind: 'pending', item: question('q2') },
      { kind: 'settled', id: 'q1' },
      { kind: 'status', status: statusAt(3) },
      { kind: 'step', step: STEP },
    ]);
  });

  it('looks at once when a reply is whole', async () => {
    let isWhole = false;
    const { run } = fakeRun({
      status: async () => statusAt(isWhole ? 2 : 1),
      pending: async () => (isWhole ? [question('q1')] : []),
      stream: async function* () {
        yield chunk(1, 'Ask');
        isWhole = true;
        yield marker(2, 'end');
        await new Promise(() => undefined);
      },
    });

    const updates = await read(run, ({ kind }) => kind === 'pending');

    expect(updates.at(-1)).toEqual({ kind: 'pending', item: question('q1') });
  });

  it('opens the text first, and asks one query at a time', async () => {
    const asked: string[] = [];
    let open = 0;
    const query = async <Value>(name: string, value: Value): Promise<Value> => {
      asked.push(name);
      open += 1;
      if (open > 1) asked.push('two at once');
      await new Promise((resolve) => setTimeout(resolve, 5));
      open -= 1;
      return value;
    };
    let version = 0;
    const { run, end } = fakeRun({
      status: () => query('status', statusAt((version += 1))),
      pending: () => query('pending', []),
      stream: async function* () {
        asked.push('stream');
        yield chunk(1, 'text');
        yield marker(2, 'end');
      },
    });

    await read(run, (one) => {
      if (one.kind === 'status' && one.status.version === 3) end(STEP);
      return one.kind === 'step';
    });

    expect(asked.slice(0, 3)).toEqual(['stream', 'status', 'pending']);
    expect(asked).not.toContain('two at once');
  });

  it('gives the rest of the text before the Step', async () => {
    const { run, end } = fakeRun({
      stream: async function* () {
        yield chunk(1, 'to ');
        end(STEP);
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield chunk(2, 'the end');
        yield marker(3, 'end');
      },
    });

    const updates = await read(run);

    const text = updates.map((one) => (one.kind === 'text' ? one.delta : ''));
    expect(text.join('')).toBe('to the end');
    expect(updates.at(-1)?.kind).toBe('step');
  });

  it('says once that nobody answers for the run, and when somebody does again', async () => {
    let asked = 0;
    const { run } = fakeRun({
      status: async () => {
        asked += 1;
        if (asked === 2 || asked === 3) throw new UsageError('no_worker', 'Nobody.');
        return statusAt(1);
      },
    });

    const updates = await read(run, () => asked > 3);

    expect(updates.map(({ kind }) => kind)).toEqual(['status', 'silent', 'status']);
  });

  it('ends with the Step though text and looks break off', async () => {
    const broken = (): never => {
      throw new Error('Gone.');
    };
    const { run, end } = fakeRun({
      status: async () => broken(),
      // oxlint-disable-next-line require-yield -- it breaks off before it gives anything
      stream: async function* () {
        broken();
      },
    });
    end(STEP);

    expect(await read(run)).toEqual([{ kind: 'step', step: STEP }]);
  });

  it('fails as the result does', async () => {
    const { run } = fakeRun({
      result: () => Promise.reject(new UsageError('run_not_found', 'No such run.')),
    });

    await expect(read(run)).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it.each<{
    name: string;
    leave: (updates: AsyncIterator<RunUpdate>, by: AbortController) => void;
  }>([
    { name: 'by its signal', leave: (_updates, by) => by.abort() },
    { name: 'by return', leave: (updates) => void updates.return?.() },
  ])('leaves a silent run at once: $name', async ({ leave }) => {
    const by = new AbortController();
    let asked = 0;
    const { run } = fakeRun({
      status: async () => {
        asked += 1;
        return statusAt(1);
      },
    });
    const updates = followRun(run, { signal: by.signal })[Symbol.asyncIterator]();
    await updates.next();

    const next = updates.next();
    leave(updates, by);

    expect(await next).toEqual({ done: true, value: undefined });
    expect(asked).toBe(1);
  });
});

describe('followRun with `partial`', () => {
  it('gives the value of the text so far, from its beginning after another attempt', async () => {
    const { run, end } = fakeRun({
      stream: streaming([
        chunk(1, '{"title": "M'),
        chunk(2, 'ay", "rows": [1, 2'),
        chunk(1, '{"title": "J', { attempt: 2 }),
        chunk(1, 'It is June.', { iteration: 2 }),
      ]),
    });
    const values: unknown[] = [];
    for await (const update of followRun(run, { partial: true })) {
      if (update.kind === 'partial') values.push(update.value);
      if (update.kind === 'text' && update.iteration === 2) end(STEP);
      if (update.kind === 'step') break;
    }

    expect(values).toEqual([{ title: 'M' }, { title: 'May', rows: [1] }, { title: 'J' }]);
  });
});
