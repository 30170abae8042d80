/** Makes the handle of one run: reads it, sends it messages, stops it, waits for it. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/base/defined.ts';
import { idBelow } from '../core/base/ids.ts';
import { actorProblem, checkRunInput } from '../core/start/check-input.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { RunInput } from '../core/run/inbox.ts';
import type { Step } from '../core/contract/step.ts';
import type { Entry } from '../core/contract/entry.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { AdjustReceipt } from '../core/contract/messages.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import {
  adjustUpdate,
  answerUpdate,
  decideUpdate,
  retryUpdate,
  sendUpdate,
} from '../workflows/messages.ts';
import { placeOfItem } from '../core/tree/calls.ts';
import { readChain, type ArchiveReader, type ChainList } from './reading/chain-reader.ts';
import { followRun } from './follow-run.ts';
import { viewMoment } from './forks.ts';
import { readEvents } from './events/follow-events.ts';
import { pushedOf } from './streaming/pushed-events.ts';
import { inTurns } from './connection/in-turns.ts';
import {
  addressBelow,
  mergeEvents,
  readTree,
  withAllBelow,
  readStartedWith,
  type TreeDepth,
} from './run-tree.ts';
import { readSummary } from './run-list.ts';
import { readPending } from './reading/open-items.ts';
import { createKeptLinks, type KeptLinks } from './reading/kept-links.ts';
import { readAttempts } from './reading/attempts.ts';
import { readHistories } from './reading/histories.ts';
import { readLinks } from './reading/links.ts';
import { readStats, readStatus } from './reading/run-status.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import {
  identifyRun,
  leavable,
  rootOf,
  streamOf,
  type ChunkSource,
  type StreamedRun,
  type StreamParts,
} from './streaming/run-stream.ts';
import { signStreamToken } from '../protection/stream-token.ts';
import { readCurrent, readOverview } from './run-overview.ts';
import { listPrograms, readProgramView, type ProgramSource } from './programs.ts';
import { readScratchpad } from './scratchpad.ts';
import type { TreeRun } from './tree-run.ts';
import { acrossHandover, cancelRun } from './send-update.ts';
import { asking, isAlive, readStep } from './connection/service-calls.ts';
import { describeRun, noteOwnRun, readTraceId, requireOwnRun } from './connection/own-run.ts';
import type {
  PauseOptions,
  ReadOptions,
  ResultOrPending,
  RunHandle,
  SendOptions,
} from './run-handle.ts';

/** What {@link createRunHandle} needs. */
export interface RunHandleParts {
  readonly client: Client;
  /** Source of provisional text; without one, `stream()` fails. */
  readonly chunks?: ChunkSource;
  /** Where to read pages that the service no longer keeps. */
  readonly archive?: ArchiveReader;
  /** What the client has read of closed links; default: of this handle alone. */
  readonly kept?: KeptLinks;
  /** The reader tokens of the workers, separated by commas: the first signs scoped tokens. */
  readonly streamToken?: string;
}

/** What a client knows of a run that it has just started. */
export interface JustStarted {
  readonly runId: string;
  /** Gives the stream that was opened with the start, once. */
  readonly opened?: StreamParts['opened'];
}

/** A handle's run, and how its methods reach it. */
interface Target extends RunHandleParts {
  readonly kept: KeptLinks;
  readonly id: string;
  readonly handle: WorkflowHandle;
  readonly tree: (options?: TreeDepth) => Promise<readonly TreeRun[]>;
  /** The handle of a run of the same tree. */
  readonly handleOf: (id: string) => RunHandle;
}

/** The handle of the run with workflow id `id`. */
export function createRunHandle(
  id: string,
  parts: RunHandleParts,
  started?: JustStarted,
): RunHandle {
  const { client, chunks, streamToken: readers, kept = createKeptLinks() } = parts;
  const target: Target = {
    ...parts,
    kept,
    id,
    handle: client.workflow.getHandle(id),
    tree: (options) => readTree(client, id, options),
    handleOf: (runId) => createRunHandle(runId, { ...parts, kept }),
  };
  if (started !== undefined) noteOwnRun(client, id);
  const identify = async (): Promise<StreamedRun> =>
    started === undefined
      ? identifyRun(client, id)
      : { runId: started.runId, isRoot: true, endedAt: null };
  const run: RunHandle = {
    id,
    ...readMethods(target),
    ...messageMethods(target),
    resultOrPending: () => firstOf(run),
    stream: ({ tree: wholeTree = false } = {}) =>
      streamOf({
        id,
        wholeTree,
        chunks,
        opened: started?.opened,
        identify,
        result: () => target.handle.result(),
      }),
    pushedEvents: ({ tree: wholeTree = false } = {}) =>
      pushedOf({ id, wholeTree, chunks, identify }),
    followEvents: ({ signal, ...options } = {}) =>
      leavable((left) =>
        readEvents(run, options, signal === undefined ? left : AbortSignal.any([signal, left])),
      ),
    streamToken: async ({ ttlMs } = {}) => {
      const rootRunId = rootOf(id, await identify());
      return signStreamToken({ rootRunId, ttlMs, readers });
    },
    follow: (options) => followRun(run, options),
  };
  return run;
}

/** The methods that read the run and do not change it. */
function readMethods({ id, client, archive, kept, tree, handleOf }: Target) {
  const result = (): Promise<Step> => readStep(client, id);
  const read = async <Item>(
    kind: ChainList,
    { from = 0, limit }: ReadOptions,
  ): Promise<readonly Item[]> => {
    const range = defined({ from, limit });
    return (await readChain({ client, id, kind, archive, kept, ...range })) as unknown as Item[];
  };
  const programs: ProgramSource = {
    client,
    id,
    events: (range) => read<AgentEvent>('events', range),
    entries: (range) => read<Entry>('entries', range),
  };
  // These describe the run by themselves.
  const described = {
    summary: () => readSummary(client, id),
    traceId: () => readTraceId(client, id),
    links: () => readLinks(client, id),
    histories: () => readHistories(client, id),
    at: (moment) => viewMoment(client, id, moment),
    tree,
    child: async (path) => handleOf(await addressBelow(id, path, tree)),
    step: async () => {
      const { status } = await describeRun(client, id);
      return isAlive(status.name) ? null : result();
    },
    startedWith: () => asking(id, () => readStartedWith(client, id)),
  } satisfies Partial<RunHandle>;
  return {
    ...described,
    ...guarded(client, id, {
      status: () => readStatus(client, id),
      stats: () => readStats(client, id),
      pending: () => readPending(client, id),
      program: (options) => readProgramView(programs, options),
      programs: () => listPrograms(programs),
      transcript: (options = {}) => read<Entry>('entries', options),
      events: async ({ tree: wholeTree = false, ...range } = {}) => {
        if (!wholeTree) return read<AgentEvent>('events', range);
        if ((range.from ?? 0) !== 0 || range.limit !== undefined)
          throw new UsageError('number', NO_COMMON_NUMBER);
        return mergeEvents(await inTurns(await tree(), (each) => handleOf(each.id).events()));
      },
      view: () => readOverview({ client, archive, kept }, id),
      current: () => readCurrent(client, id),
      scratchpad: () => readScratchpad(client, id),
      attempts: (range) => readAttempts({ client, id, kept }, range),
      result,
    } satisfies Partial<RunHandle>),
  };
}

type Method = (...args: never[]) => Promise<unknown>;

/** `methods`, each of which first makes sure that `id` is a run of an agent. */
function guarded<Methods extends Readonly<Record<string, Method>>>(
  client: Client,
  id: string,
  methods: Methods,
): Methods {
  const guard =
    (method: Method): Method =>
    async (...args) => {
      await requireOwnRun(client, id);
      return method(...args);
    };
  const entries = Object.entries(methods).map(([name, method]) => [name, guard(method)]);
  return Object.fromEntries(entries) as Methods;
}

/** The methods that send something to the run. */
function messageMethods({ id, client, tree, handleOf }: Target) {
  const update = <Result, Arg>(
    definition: UpdateDefinition<Result, [Arg]>,
    arg: Arg,
    updateId: string = randomUUID(),
  ): Promise<Result> =>
    acrossHandover(id, client, definition, { arg, updateId: wellFormedText(updateId) });
  const setPaused = async (
    paused: boolean,
    { tree: wholeTree = false, by }: PauseOptions = {},
  ): Promise<AdjustReceipt> => {
    const actor = statedActor(by);
    const receipt = await update(adjustUpdate, { paused, ...actor });
    if (wholeTree) {
      await withAllBelow(id, tree, (runId) =>
        paused ? handleOf(runId).pause(actor) : handleOf(runId).resume(actor),
      );
    }
    return receipt;
  };
  /** The run below that has an item, and the item's id there; null for an item of this run. */
  const ownerOf = (itemId: string): ItemOwner | null => {
    const { calls, id: item } = placeOfItem(itemId);
    return calls.length === 0 ? null : { run: handleOf(calls.reduce(idBelow, id)), item };
  };
  return guarded(client, id, {
    send: async (text, options = {}) => {
      const input = inputOf(text, options);
      const { position } = await update(sendUpdate, input, input.id);
      if (options.tree === true) {
        await withAllBelow(id, tree, (runId) =>
          handleOf(runId).send(text, { ...options, id: input.id, tree: false }),
        );
      }
      return position;
    },
    answer: async (itemId, value, { updateId = randomUUID(), by } = {}) => {
      const owner = ownerOf(itemId);
      const sent = { updateId, ...statedActor(by) };
      if (owner === null) return update(answerUpdate, { id: itemId, value, ...sent }, updateId);
      await namedAs(itemId, owner, owner.run.answer(owner.item, value, sent));
      return { id: itemId };
    },
    decide: async (itemId, decision, { updateId = randomUUID(), by } = {}) => {
      const owner = ownerOf(itemId);
      const sent = { updateId, ...statedActor(by) };
      if (owner === null) return update(decideUpdate, { id: itemId, decision, ...sent }, updateId);
      await namedAs(itemId, owner, owner.run.decide(owner.item, decision, sent));
      return { id: itemId };
    },
    retry: async (callId) => {
      const owner = ownerOf(callId);
      if (owner === null) return update(retryUpdate, { callId });
      await owner.run.retry(owner.item);
      return { callId };
    },
    adjust: (limits, { by } = {}) => update(adjustUpdate, { limits, ...statedActor(by) }),
    pause: (options) => setPaused(true, options),
    resume: (options) => setPaused(false, options),
    cancel: async (message, { force = false, by } = {}) =>
      cancelRun(id, client, { force, ...statedActor(by), ...defined({ message }) }),
  } satisfies Partial<RunHandle>);
}

/** An item of a run below: where it waits, and under which id. */
interface ItemOwner {
  readonly run: RunHandle;
  readonly item: string;
}

/**
 * Settles as `sent` does, but a refusal names the item as the caller did.
 *
 * @throws UsageError `item_settled` also if the run below has ended.
 */
async function namedAs(itemId: string, { item }: ItemOwner, sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!isUsageError(error)) throw error;
    const { code, message } = error;
    if (code === 'run_ended') throw new UsageError('item_settled', `${itemId} is over: ${message}`);
    if (code !== 'item_settled' && code !== 'item_unknown') throw error;
    throw new UsageError(
      code,
      message.replace(item, () => itemId),
    );
  }
}

/** @throws UsageError `invalid_input` for a name that the run would refuse. */
function statedActor(by: string | undefined): StatedActor {
  const problem = actorProblem(by);
  if (problem !== null) throw new UsageError('invalid_input', problem);
  return defined({ by });
}

const NO_COMMON_NUMBER =
  'Expected neither `from` nor `limit` for the events of a tree, since each run numbers its own. Leave them out.';

/** How often `pending` is queried: soon at first, then less and less often. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 2_000;

/** The end of a run, or the first item that waits for a person. Only the latter needs polling. */
async function firstOf(run: RunHandle): Promise<ResultOrPending> {
  const ended = new AbortController();
  const result = run.result().finally(() => ended.abort());
  const waiting = async (): Promise<ResultOrPending> => {
    for (let waitMs = FIRST_POLL_MS; !ended.signal.aborted; waitMs *= 2) {
      const pending = await run.pending();
      if (pending.length > 0) return { kind: 'pending', pending, run };
      await sleep(Math.min(waitMs, MAX_POLL_MS), undefined, { signal: ended.signal });
    }
    return { kind: 'step', step: await result };
  };
  const step = result.then((ending): ResultOrPending => ({ kind: 'step', step: ending }));
  // When a query fails, or the run ends during a pause, return the result.
  return Promise.race([step, waiting().catch(() => step)]);
}

function inputOf(
  text: string,
  { kind = 'queue', id = randomUUID(), media, by }: SendOptions,
): RunInput {
  const checked = checkRunInput(defined({ id, kind, text, media, by }));
  if (checked.kind === 'invalid') throw new UsageError('invalid_input', checked.message);
  return checked.input;
}
