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
import type { AdjustReceipt, AnswerReceipt } from '../core/contract/messages.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import {
  adjustUpdate,
  answerSignal,
  answerUpdate,
  decideSignal,
  decideUpdate,
  inputSignal,
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
import { coded } from './connection/service-errors.ts';
import { throughOutage, type ResultOptions } from './connection/through-outage.ts';
import {
  acrossHandover,
  cancelRun,
  ownRunInTime,
  sendOrLeave,
  type LeavableMessage,
} from './sending/send-update.ts';
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
  const identify = async (signal?: AbortSignal): Promise<StreamedRun> =>
    started === undefined
      ? throughOutage(client, defined({ signal }), () => identifyRun(client, id))
      : { runId: started.runId, isRoot: true, endedAt: null };
  const run: RunHandle = coded<RunHandle>({
    id,
    ...readMethods(target),
    ...messageMethods(target),
    resultOrPending: (wait) => firstOf(run, wait),
    stream: ({ tree: wholeTree = false } = {}) =>
      streamOf({
        id,
        wholeTree,
        chunks,
        opened: started?.opened,
        identify,
        result: (signal) => run.result({ signal }),
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
  });
  return run;
}

/** The methods that read the run and do not change it. */
function readMethods({ id, client, archive, kept, tree, handleOf }: Target) {
  const result = (wait: ResultOptions = {}): Promise<Step> =>
    throughOutage(client, wait, async () => {
      await requireOwnRun(client, id);
      return readStep(client, id);
    });
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
      return isAlive(status.name) ? null : readStep(client, id);
    },
    startedWith: () => asking(id, () => readStartedWith(client, id)),
  } satisfies Partial<RunHandle>;
  return {
    ...described,
    // Its guard waits, too.
    result,
    ...guarded(() => requireOwnRun(client, id), {
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
    } satisfies Partial<RunHandle>),
  };
}

type Method = (...args: never[]) => Promise<unknown>;

/** `methods`, each of which first makes sure by `requireOwn` that the run is one of an agent. */
function guarded<Methods extends Readonly<Record<string, Method>>>(
  requireOwn: () => Promise<void>,
  methods: Methods,
): Methods {
  const guard =
    (method: Method): Method =>
    async (...args) => {
      await requireOwn();
      return method(...args);
    };
  const entries = Object.entries(methods).map(([name, method]) => [name, guard(method)]);
  return Object.fromEntries(entries) as Methods;
}

/** The methods that send something to the run. */
function messageMethods({ id, client, tree, handleOf }: Target) {
  const update = async <Result, Arg>(
    definition: UpdateDefinition<Result, [Arg]>,
    arg: Arg,
    updateId: string = randomUUID(),
  ): Promise<Result> => {
    await ownRunInTime(id, client);
    return acrossHandover(id, client, definition, { arg, updateId: wellFormedText(updateId) });
  };
  /** Null: no worker has taken it, and the service keeps it. */
  const leave = async <Result, Arg>(
    message: LeavableMessage<Result, Arg>,
    arg: Arg,
    updateId: string,
  ): Promise<Result | null> => {
    await ownRunInTime(id, client);
    return sendOrLeave(id, client, message, { arg, updateId: wellFormedText(updateId) });
  };
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
  return {
    send: async (text, options = {}) => {
      const input = inputOf(text, options);
      const receipt = await leave(SEND, input, input.id);
      if (options.tree === true) {
        await withAllBelow(id, tree, (runId) =>
          handleOf(runId).send(text, { ...options, id: input.id, tree: false }),
        );
      }
      return receipt?.position ?? null;
    },
    answer: async (itemId, value, { updateId = randomUUID(), by } = {}) => {
      const owner = ownerOf(itemId);
      const sent = { updateId, ...statedActor(by) };
      if (owner !== null) {
        const taken = await namedAs(itemId, owner, owner.run.answer(owner.item, value, sent));
        return { ...taken, id: itemId };
      }
      return receiptOf(itemId, await leave(ANSWER, { id: itemId, value, ...sent }, updateId));
    },
    decide: async (itemId, decision, { updateId = randomUUID(), by } = {}) => {
      const owner = ownerOf(itemId);
      const sent = { updateId, ...statedActor(by) };
      if (owner !== null) {
        const taken = await namedAs(itemId, owner, owner.run.decide(owner.item, decision, sent));
        return { ...taken, id: itemId };
      }
      return receiptOf(itemId, await leave(DECIDE, { id: itemId, decision, ...sent }, updateId));
    },
    retry: async (callId) => {
      const owner = ownerOf(callId);
      if (owner === null) return update(retryUpdate, { callId });
      await owner.run.retry(owner.item);
      return { callId };
    },
    revoke: async (approvalId, { by } = {}) => {
      const owner = ownerOf(approvalId);
      if (owner !== null) return owner.run.revoke(owner.item, { ...statedActor(by) });
      await update(adjustUpdate, { revoke: approvalId, ...statedActor(by) });
    },
    adjust: async (limits, { by } = {}) => update(adjustUpdate, { limits, ...statedActor(by) }),
    pause: (options) => setPaused(true, options),
    resume: (options) => setPaused(false, options),
    cancel: async (message, { force = false, by } = {}) => {
      const payload = { force, ...statedActor(by), ...defined({ message }) };
      await ownRunInTime(id, client);
      return cancelRun(id, client, payload);
    },
  } satisfies Partial<RunHandle>;
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
async function namedAs<Taken>(
  itemId: string,
  { item }: ItemOwner,
  sent: Promise<Taken>,
): Promise<Taken> {
  try {
    return await sent;
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

const SEND = { update: sendUpdate, signal: inputSignal };
const ANSWER = { update: answerUpdate, signal: answerSignal };
const DECIDE = { update: decideUpdate, signal: decideSignal };

function receiptOf(id: string, taken: AnswerReceipt | null): AnswerReceipt {
  return taken ?? { id, unapplied: true };
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
async function firstOf(run: RunHandle, wait?: ResultOptions): Promise<ResultOrPending> {
  const ended = new AbortController();
  const result = run.result(wait).finally(() => ended.abort());
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
