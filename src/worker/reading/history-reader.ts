/**
 * Reads links of runs for a client, without their workers: a replay of the history of a link tells all
 * that the link answers. Nothing of the agent is needed for it, but for own parts of replies and own
 * workflows.
 *
 * I1  A link is replayed once for each length of its history, however much is asked of it.
 * I2  The newest link is read as of its last task that a worker has finished: what came later is not
 *     a part of the run yet.
 * I3  Nothing is loaded or started before the first link is read.
 */
import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { HistoryReader, ReadPlace } from '../../client/reading/run-reader.ts';
import { tolerant } from '../../client/connection/open-connection.ts';
import { asking, notAnAgent, unknownRun } from '../../client/connection/service-calls.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../../core/contract/messages.ts';
import type { LinkAnswers, LinkItems } from '../../core/fork/link-answers.ts';
import { clip } from '../../core/text/cut.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import type { LoadedBundle } from '../bundle/bundle.ts';
import { installRuntime } from '../serve/install-runtime.ts';
import { readableHistory } from './readable-history.ts';
import { createReplayer, type Replayer } from '../states/replayer.ts';

/** What a reader is made of. */
export interface HistoryReaderParts {
  /** Loads the workflows, when they are needed first. */
  readonly loadBundle: () => Promise<LoadedBundle>;
  /** Default: none. */
  readonly protection?: Protection;
  /** The mark of these workflows; absent: Everloop's. See `ActivityRuntime`. */
  readonly workflows?: string;
}

/** Characters of JSON of all links that are kept. */
const MAX_CHARACTERS = 67_108_864;

/** How long a replay may go on that has told all. */
const SEEN_MS = 1_000;

/** A reader in this process. */
export function createHistoryReader(parts: HistoryReaderParts): HistoryReader {
  const { loadBundle, protection = NO_PROTECTION, workflows } = parts;
  const kept = new LRUCache<string, KeptReading>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ answers }) => JSON.stringify(answers).length,
  });
  const open = new Map<string, Promise<KeptReading>>();
  let replayer: Promise<Replayer> | null = null;
  const loaded = (): Promise<Replayer> => {
    replayer ??= loadBundle().then((bundle) => {
      installRuntime({ logLevel: 'ERROR' });
      return createReplayer(bundle, protection);
    });
    // A bundle that could not be loaded is tried again.
    replayer.catch(() => (replayer = null));
    return replayer;
  };
  const readOnce = (client: Client, place: DescribedLink): Promise<KeptReading> => {
    const key = `${place.executionId}/${place.length}`;
    const known = kept.get(key) ?? open.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const reading = readLink(client, place, loaded, workflows);
    open.set(key, reading);
    const forget = (): boolean => open.delete(key);
    reading.then((read) => kept.set(key, read)).then(forget, forget);
    return reading;
  };
  return {
    read: async (client, place) => {
      const link = await describeLink(client, place);
      const { executionId, isOpen } = link;
      const { answers, asOf } = await readOnce(client, link);
      return { executionId, isOpen, answers: isOpen ? answersAsOf(answers, asOf) : answers };
    },
    close: async () => {
      const opened = replayer;
      replayer = null;
      await (await opened?.catch(() => null))?.close();
    },
  };
}

/** What was read of a link, as of an event of its history. */
interface KeptReading {
  readonly answers: LinkAnswers;
  readonly asOf: number;
}

/** A link, as the service knows it. */
interface DescribedLink {
  readonly id: string;
  readonly executionId: string;
  readonly isOpen: boolean;
  /** Events of its history. */
  readonly length: number;
}

async function describeLink(
  client: Client,
  { id, executionId }: ReadPlace,
): Promise<DescribedLink> {
  const handle = tolerant(client).workflow.getHandle(id, executionId);
  const { type, runId, status, historyLength } = await asking(id, () => handle.describe());
  if (type !== AGENT_WORKFLOW) throw notAnAgent(id);
  // A link that has handed over is closed, while its run goes on.
  return { id, executionId: runId, isOpen: status.name === 'RUNNING', length: historyLength };
}

async function readLink(
  client: Client,
  { id, executionId }: DescribedLink,
  loaded: () => Promise<Replayer>,
  workflows: string | undefined,
): Promise<KeptReading> {
  const handle = client.workflow.getHandle(id, executionId);
  const [history, replayer] = await Promise.all([
    handle.fetchHistory().catch((error: unknown) => {
      throw isNotFound(error) ? unknownRun(id) : error;
    }),
    loaded(),
  ]);
  const readable = readableHistory(history);
  const { until, isMade } = readable;
  const told: LinkAnswers[] = [];
  let reached = 0;
  const seen = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const error = await replayer.replay(
    { workflowId: id, history: readable.history },
    {
      answers: (answers, historyLength) => {
        told.push(answers);
        reached = historyLength;
        clearTimeout(timer);
        // A task that is made up may wait for what nobody does in a replay.
        if (isMade && reached >= (until ?? 0)) timer = setTimeout(() => seen.abort(), SEEN_MS);
      },
    },
    seen.signal,
  );
  clearTimeout(timer);
  const last = told.at(-1);
  // What is told before the agent is loaded is the same in all workflows.
  const { workflows: ran = workflows ?? null } = last ?? {};
  const others = ran !== (workflows ?? null);
  // Without a finished task there is only what the link begins with.
  const isWhole = until === null || (reached >= until && (error === undefined || isMade));
  if (last === undefined || others || !isWhole) {
    throw unread(id, others ? `the workflows ${ran ?? 'of Everloop'}` : error);
  }
  return { answers: joined(told, last), asOf: readable.asOf };
}

/** All that was told, whose lists came in parts. */
function joined(told: readonly LinkAnswers[], last: LinkAnswers): LinkAnswers {
  return {
    ...last,
    events: itemsOf(told.map(({ events }) => events)),
    entries: itemsOf(told.map(({ entries }) => entries)),
  };
}

/** The answers of a run that is alive: they say as of when. */
function answersAsOf(answers: LinkAnswers, asOf: number): LinkAnswers {
  const { status, view } = answers;
  return {
    ...answers,
    status: { ...status, asOf },
    view: view && { ...view, status: { ...view.status, asOf } },
  };
}

function itemsOf(parts: readonly LinkItems[]): LinkItems {
  const filled = parts.filter(({ items }) => items.length > 0);
  const { first = 0 } = filled[0] ?? parts.at(-1) ?? {};
  return { first, items: filled.flatMap(({ items }) => items) };
}

/** Characters of a reason. */
const MAX_REASON = 300;

/** Why a history could not be read. */
function unread(id: string, reason: unknown): UsageError {
  const text = typeof reason === 'string' ? reason : errorText(reason ?? 'no answers');
  const keyId = /[Ee]xpected key `([^`]{1,128})`|encrypted with key (\S{1,128}), which/.exec(text);
  if (keyId !== null) {
    const key = keyId[1] ?? keyId[2];
    const message = `Expected key \`${key}\` to read run \`${id}\`, got no such key. Set EVERLOOP_KEYS.`;
    return new UsageError('keys_missing', message);
  }
  return new UsageError(
    'reader_needs_worker',
    `Expected a worker that answers for run \`${id}\`, or a history that replays here, got neither: ${clip(text, MAX_REASON)}. Start a worker that has its own parts, or read it with the version that ran it.`,
  );
}
