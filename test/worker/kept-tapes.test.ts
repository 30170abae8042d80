/** Replays that are kept for a while: many moments of a run need one replay of each of its links. */
import {
  defaultPayloadConverter,
  WorkflowNotFoundError,
  type LoadedDataConverter,
} from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { ProbedCall } from '../../src/core/run/host.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import { createKeptTapes, type RecordedTape } from '../../src/worker/states/kept-tapes.ts';
import { createStateSource } from '../../src/worker/states/state-source.ts';
import type { Replayer } from '../../src/worker/states/replayer.ts';
import type { TapeRecorder } from '../../src/core/fork/tape.ts';

/** The state before iteration `iteration` + 1. */
function stateAt(iteration: number, text = ''): RunState {
  const state = { iteration, seq: iteration * 10, link: linkOf(iteration), turn: null, text };
  return state as unknown as RunState;
}

const PER_LINK = 100;
const LINKS = 10;

const linkOf = (iteration: number): number => Math.floor(iteration / PER_LINK) + 1;

function callOf(iteration: number): ProbedCall {
  const call = { callId: `${iteration}.1`, tool: 'pay', args: {} };
  return { call, effect: 'once', result: { kind: 'ok' } } as unknown as ProbedCall;
}

/** A service with a run of ten links, which has ended unless `isOpen`. */
function service(isOpen = false): { readonly client: Client; readonly asked: string[] } {
  const asked: string[] = [];
  const firstEvent = (link: number): object => {
    const state = stateAt((link - 1) * PER_LINK);
    const payloads = [defaultPayloadConverter.toPayload({ v: 1, kind: 'handover', state })];
    return {
      firstExecutionRunId: 'e1',
      continuedExecutionRunId: link === 1 ? '' : `e${link - 1}`,
      workflowId: 'clerk-7',
      input: { payloads },
    };
  };
  const historyOf = (runId: string): object => {
    const link = Number(runId.slice(1));
    if (link < 1 || link > LINKS) throw new WorkflowNotFoundError('gone', 'clerk-7', runId);
    return { events: [{ workflowExecutionStartedEventAttributes: firstEvent(link) }], runId };
  };
  const loadedDataConverter = {
    payloadConverter: defaultPayloadConverter,
    payloadCodecs: [],
  } as unknown as LoadedDataConverter;
  let length = 300;
  const client = {
    options: { loadedDataConverter, namespace: 'default' },
    workflow: {
      getHandle: (_id: string, runId?: string) => ({
        describe: async () => ({
          type: 'agent',
          runId: `e${LINKS}`,
          ...(isOpen ? {} : { closeTime: new Date() }),
          historyLength: length++,
          raw: {},
        }),
        fetchHistory: async () => {
          asked.push(`history ${runId}`);
          return historyOf(runId ?? '');
        },
      }),
    },
    workflowService: {
      getWorkflowExecutionHistory: async (page: {
        readonly execution: { readonly runId: string };
      }) => {
        asked.push(`event ${page.execution.runId}`);
        return { history: historyOf(page.execution.runId) };
      },
    },
  };
  return { client: client as unknown as Client, asked };
}

/** Replays a link: its hundred boundaries, with a call after each. */
function replayer(replays: string[]): Replayer {
  return {
    replay: async ({ history }, watch) => {
      const { runId } = history as { readonly runId?: string };
      const link = Number(String(runId).slice(1));
      replays.push(String(runId));
      for (let at = (link - 1) * PER_LINK; at < link * PER_LINK; at++) {
        watch.boundary?.(stateAt(at), undefined);
        watch.call?.(callOf(at + 1));
      }
      await Promise.resolve();
      return undefined;
    },
    close: () => Promise.resolve(),
  };
}

const NO_ARCHIVE = { read: async () => [], history: async () => null };

const { signal } = new AbortController();

describe('moments of a run of a thousand iterations', () => {
  it('take one replay of each of its ten links, with the calls after them', async () => {
    const replays: string[] = [];
    const { client, asked } = service();
    const source = createStateSource({
      client,
      replayer: replayer(replays),
      archive: NO_ARCHIVE,
      workflows: undefined,
    });
    for (let iteration = 1; iteration <= LINKS * PER_LINK; iteration++) {
      const found = await source.at(
        { workflowId: 'clerk-7' },
        { iteration },
        { withCalls: true, signal },
      );
      expect(found.state.iteration).toBe(iteration - 1);
      expect(found.calls).toHaveLength(LINKS * PER_LINK - iteration + 1);
      expect(found.origin).toMatchObject({ runId: 'e1', executionId: `e${linkOf(iteration - 1)}` });
    }
    const each = Array.from({ length: LINKS }, (_, at) => `e${at + 1}`);
    expect(replays.toSorted()).toEqual(each.toSorted());
    const count = (what: string): number => asked.filter((one) => one.startsWith(what)).length;
    expect([count('history'), count('event')]).toEqual([LINKS, LINKS]);
  });

  it('that still goes on are read anew as far as it has come', async () => {
    const replays: string[] = [];
    const { client } = service(true);
    const source = createStateSource({
      client,
      replayer: replayer(replays),
      workflows: undefined,
      archive: NO_ARCHIVE,
    });
    for (let look = 0; look < 2; look++) {
      await source.at({ workflowId: 'clerk-7' }, 'latest', { withCalls: false, signal });
      await source.at({ workflowId: 'clerk-7' }, { iteration: 5 }, { withCalls: false, signal });
    }
    expect(replays).toEqual(['e10', 'e1', 'e10']);
  });

  it('asked for at once are one replay, and each gets a copy of its own', async () => {
    const replays: string[] = [];
    const source = createStateSource({
      client: service().client,
      replayer: replayer(replays),
      workflows: undefined,
      archive: NO_ARCHIVE,
    });
    const found = await Promise.all(
      [7, 7, 8, 9].map((iteration) =>
        source.at({ workflowId: 'clerk-7' }, { iteration }, { withCalls: false, signal }),
      ),
    );
    expect(found.map(({ state }) => state.iteration)).toEqual([6, 6, 7, 8]);
    expect(found[0]?.state).not.toBe(found[1]?.state);
    expect(replays).toEqual(['e1']);
  });
});

describe('what is kept of a tape', () => {
  /** Records ten boundaries of 1,000 characters each. */
  const recorded =
    (records: number[], isWhole = true) =>
    async ({ probe }: TapeRecorder): Promise<RecordedTape> => {
      records.push(1);
      for (let at = 0; at < 10; at++) probe.boundary(stateAt(at, 'x'.repeat(1_000)));
      await Promise.resolve();
      return { isWhole };
    };
  const ask = async (
    tapes: ReturnType<typeof createKeptTapes>,
    iteration: number,
    records: number[],
  ) => {
    const asked = { key: 'k', moment: { iteration }, withCalls: false };
    const { boundaries } = await tapes.get(asked, recorded(records));
    return boundaries.flatMap(({ state }) => (state === null ? [] : [state.iteration]));
  };

  it('are the wanted state and those beside it, as many as fit', async () => {
    const records: number[] = [];
    const tapes = createKeptTapes(3_500);
    for (const iteration of [5, 6, 7])
      expect(await ask(tapes, iteration, records)).toEqual([iteration - 1]);
    expect(records).toHaveLength(1);
    expect(await ask(tapes, 8, records)).toEqual([7]);
    expect(records).toHaveLength(2);
    expect(await ask(tapes, 10, records)).toEqual([9]);
    expect(await ask(tapes, 1, records)).toEqual([0]);
    expect(records).toHaveLength(3);
  });

  it('is the wanted state alone, if no other fits; nothing of a replay that did not end', async () => {
    const records: number[] = [];
    const tapes = createKeptTapes(10);
    expect(await ask(tapes, 5, records)).toEqual([4]);
    expect(await ask(tapes, 5, records)).toEqual([4]);
    expect(records).toHaveLength(1);
    const asked = { key: 'cut', moment: { iteration: 2 }, withCalls: false };
    for (let look = 0; look < 2; look++) await tapes.get(asked, recorded(records, false));
    expect(records).toHaveLength(3);
  });

  it('has no calls unless they were asked for', async () => {
    const records: number[] = [];
    const tapes = createKeptTapes();
    for (const withCalls of [false, false, true, true, false]) {
      await tapes.get({ key: 'k', moment: 'latest', withCalls }, recorded(records));
    }
    expect(records).toHaveLength(2);
  });
});
