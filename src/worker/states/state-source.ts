/**
 * History → state: a moment of a run by a replay of its own history with the real code.
 *
 * I1  Links are looked through backwards: each but the first begins with the state that was handed
 *     over, so only the link with the moment is replayed, and with calls those after it.
 * I2  A replay serves the moments that are asked for within a minute: see `kept-tapes.ts`. How far a
 *     link had come is part of what its tape is known by.
 * I3  A link that the service has forgotten is replayed from the archive, if it was saved there.
 * I4  A run is not touched: it may go on, be handed over or have ended.
 */
import type { Client } from '@temporalio/client';
import type { StateSource } from '../../activities/load-fork.ts';
import { unknownRun } from '../../client/connection/service-calls.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { ForkInput, RunMoment } from '../../core/base/fork.ts';
import { boundaryOf, noMomentText } from '../../core/fork/moment.ts';
import type { Tape, TapedBoundary, TapeRecorder } from '../../core/fork/tape.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { ForkSource } from '../../registry/fork-agent.ts';
import type { ArchivedHistory as History, StateArchive } from './archived-states.ts';
import type { Replayer } from './replayer.ts';
import { createKeptTapes, type KeptTapes } from './kept-tapes.ts';
import { createRunChains, probed, type ChainLink, type RunChains } from './run-chain.ts';

/** What a source of states is made of. */
export interface StateSourceParts {
  readonly client: Client;
  readonly replayer: Replayer;
  /** The mark of this worker's workflows; undefined: Everloop's. See `ActivityRuntime`. */
  readonly workflows: string | undefined;
  /** The states that links handed over; for links whose history is gone. */
  readonly archive: StateArchive;
}

/** The parts with what is kept of replays. */
interface Reading extends StateSourceParts {
  readonly chains: RunChains;
  readonly tapes: KeptTapes;
}

/** Gets moments of runs by replay. */
export function createStateSource(parts: StateSourceParts): StateSource {
  const reading = {
    ...parts,
    chains: createRunChains(parts.client, parts.archive),
    tapes: createKeptTapes(),
  };
  return {
    at: async (source, at, { withCalls, signal }) => {
      const later: ChainLink[] = [];
      let link = await reading.chains.newest(source);
      while (mayBeEarlier(at, link) && link.previous !== null) {
        signal.throwIfAborted();
        const before = await reading.chains.before(source.workflowId, link);
        if (before === null) return archived(reading, { source, at, link, withCalls });
        later.unshift(link);
        link = before;
      }
      signal.throwIfAborted();
      const tape = await replayed(reading, source, { link, moment: at, withCalls });
      if (tape === null) {
        const [oldest] = later;
        if (oldest === undefined) throw unknownRun(source.workflowId);
        return archived(reading, { source, at, link: oldest, withCalls });
      }
      const found = boundaryOf(at, tape.boundaries);
      if (found?.state == null) throw noMoment(source, at, await newestOf(reading, source, tape));
      const rest = withCalls ? await callsOf(reading, source, later) : NO_TAPE;
      return sourceOf(source, link, found.state, [
        { calls: tape.calls.slice(found.calls), children: tape.children.slice(found.children) },
        rest,
      ]);
    },
  };
}

type Place = ForkInput['source'];

const NO_TAPE = { calls: [], children: [] } as const;

/** Whether the moment lies before the first boundary of the link. */
function mayBeEarlier(at: RunMoment, { begin }: ChainLink): boolean {
  if (begin === null) return false;
  if (at === 'latest') return begin.isInTurn;
  if (at === 'start') return true;
  // A link that began in the middle of a turn has no boundary before the next iteration.
  const first = begin.iteration + (begin.isInTurn ? 2 : 1);
  return 'iteration' in at ? at.iteration < first : at.event < begin.seq || begin.isInTurn;
}

interface LinkReplay {
  readonly link: ChainLink;
  readonly moment: RunMoment | null;
  readonly withCalls: boolean;
}

/** The tape of a link; null if the service has forgotten it. What was seen before a misfit is as it was. */
async function replayed(
  reading: Reading,
  { workflowId }: Place,
  { link, moment, withCalls }: LinkReplay,
): Promise<Tape | null> {
  const { executionId, events = 'ended' } = link;
  let isForgotten = false;
  const tape = await reading.tapes.get(
    { key: `${executionId}/${events}`, moment, withCalls },
    async (recorder) => {
      const history = await reading.chains.history(workflowId, link);
      isForgotten = history === null;
      if (history === null) return { isWhole: false };
      const error = await replay(reading, workflowId, history, recorder);
      if (error === undefined) return { isWhole: true };
      const isThere = moment !== null && boundaryOf(moment, recorder.boundaries)?.state != null;
      // A later boundary might be the one that is meant, but for one that is named.
      const isNamed = typeof moment === 'object' && moment !== null && 'iteration' in moment;
      if (isThere && isNamed && !withCalls) return { isWhole: false };
      throw misfit(workflowId, history, error);
    },
  );
  return isForgotten ? null : tape;
}

/** Replays a history; returns why it did not go to its end. */
async function replay(
  { replayer, workflows }: Reading,
  workflowId: string,
  history: History,
  { probe }: TapeRecorder,
): Promise<Error | undefined> {
  let others: string | undefined;
  const error = await replayer.replay(probed(history, workflowId), {
    ...probe,
    boundary: (state, ran) => {
      if (nameOf(ran) !== nameOf(workflows)) others = ran ?? OURS;
      probe.boundary(state);
    },
  });
  if (others !== undefined) throw otherWorkflows(workflowId, others, workflows ?? OURS);
  return error;
}

const OURS = "Everloop's";

/** The name of a file with loops of your own, without the digits of its text. */
function nameOf(mark: string | undefined): string {
  return mark === undefined ? OURS : (mark.split('@')[0] ?? mark);
}

function otherWorkflows(id: string, theirs: string, ours: string): UsageError {
  return new UsageError(
    'fork_workflows',
    `Expected the workflows of run \`${id}\` (${theirs}), got others (${ours}). Set \`workflowsPath\` as its workers have it.`,
  );
}

function misfit(id: string, history: History, error: Error): UsageError {
  const text = errorText(error);
  const keyId = /encrypted with key (\S{1,128}), which/.exec(text)?.[1];
  if (keyId !== undefined) {
    const message = `Expected key \`${keyId}\` to replay run \`${id}\`, got no such key. Set EVERLOOP_KEYS.`;
    return new UsageError('keys_missing', message);
  }
  const code = /TMPRL\d{4}/.exec(text)?.[0] ?? text.slice(0, MAX_REASON);
  const event = /HistoryEvent\(id: (\d+)/.exec(text)?.[1];
  const where = event === undefined ? '' : ` at event ${event}`;
  const build = buildOf(history);
  const which = build === '' ? '' : ` (build ${build})`;
  return new UsageError(
    'replay_failed',
    `Expected this worker's code to replay run \`${id}\`, got ${code}${where}. Use a worker of the version that ran it${which}.`,
  );
}

const MAX_REASON = 300;

function buildOf({ events }: History): string {
  const done = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
  return done?.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? '';
}

async function callsOf(
  reading: Reading,
  source: Place,
  links: readonly ChainLink[],
): Promise<Pick<Tape, 'calls' | 'children'>> {
  const tapes: Tape[] = [];
  for (const link of links) {
    const tape = await replayed(reading, source, { link, moment: null, withCalls: true });
    // Without its calls, a fork might repeat them unasked.
    if (tape === null) throw unknownRun(source.workflowId);
    tapes.push(tape);
  }
  return {
    calls: tapes.flatMap(({ calls }) => calls),
    children: tapes.flatMap(({ children }) => children),
  };
}

function sourceOf(
  { workflowId }: Place,
  { runId, executionId }: Pick<ChainLink, 'runId' | 'executionId'>,
  state: RunState,
  after: readonly Pick<Tape, 'calls' | 'children'>[],
): ForkSource {
  return {
    state,
    origin: { workflowId, runId, executionId },
    calls: after.flatMap(({ calls }) => calls),
    children: after.flatMap(({ children }) => children),
  };
}

/** The newest boundary of the whole run, for the message. */
async function newestOf(
  reading: Reading,
  source: Place,
  tape: Tape,
): Promise<TapedBoundary | undefined> {
  const link = await reading.chains.newest(source);
  const latest = await replayed(reading, source, { link, moment: 'latest', withCalls: false });
  return latest?.boundaries.at(-1) ?? tape.boundaries.at(-1);
}

function noMoment(
  { workflowId }: Place,
  at: RunMoment,
  newest: TapedBoundary | undefined,
): UsageError {
  return new UsageError('fork_moment', noMomentText(workflowId, at, newest));
}

/** A moment whose link the service has forgotten: the states that links handed over are archived. */
async function archived(
  { archive }: Reading,
  lost: {
    readonly source: Place;
    readonly at: RunMoment;
    /** The oldest link that is there. */
    readonly link: ChainLink;
    readonly withCalls: boolean;
  },
): Promise<ForkSource> {
  const { source, at, link, withCalls } = lost;
  const states = (await archive.read(link.runId)).filter(({ turn }) => (turn ?? null) === null);
  const boundaries = states.map((state) => ({
    iteration: state.iteration + 1,
    seq: state.seq,
    state,
  }));
  const found =
    typeof at === 'object' && 'iteration' in at ? boundaryOf(at, boundaries) : undefined;
  if (found === undefined || withCalls) {
    const oldest = (link.begin?.iteration ?? 0) + 1;
    const known = boundaries.map(({ iteration }) => iteration).filter((one) => one < oldest);
    throw gone(source, link, withCalls ? [oldest] : [...known, oldest]);
  }
  // The link that handed this state over is gone: the one after it is as near as can be named.
  return sourceOf(source, link, found.state, []);
}

function gone({ workflowId }: Place, link: ChainLink, earliest: readonly number[]): UsageError {
  const number = Math.max(1, (link.begin?.link ?? 2) - 1);
  const moments =
    earliest.length === 1
      ? `moment is iteration ${earliest[0]}`
      : `are iterations ${earliest.slice(0, MAX_LISTED).join(', ')}`;
  return new UsageError(
    'history_gone',
    `Expected the history of link ${number} of run \`${workflowId}\`, got none: the service has forgotten it. The earliest ${moments}.`,
  );
}

const MAX_LISTED = 20;
