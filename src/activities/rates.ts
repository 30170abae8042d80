/**
 * The rates of model entries in a worker: each request has its moment from the counter of its entry,
 * which all workers share.
 *
 * R1  Requests that come while the counter is being asked are asked for together with the next.
 * R2  A request is sent at its moment, or at most a little later; one whose moment has passed gets
 *     another. So a worker that stands still never sends a burst.
 * R3  What a request will take is estimated from what the last ones took.
 * R4  A counter that does not answer delays: the call is tried again later, ever more rarely. What it
 *     answers that is no moment is no answer.
 * R5  What a provider says that a request took counts up to {@link MOST_USED}: a wrong number must not
 *     delay all others for years.
 */
import { counterIdOf, MAX_LEASED, type AskCounter, type RateMarks } from '../core/rate/rate.ts';
import type { Rate } from '../core/base/rate.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { LATE_MS, MOST_AHEAD_MS } from '../core/rate/counter.ts';

/** When a request may be sent. */
export type Moment =
  /** In milliseconds since 1970, and for how many tokens it is. */
  | { readonly kind: 'at'; readonly at: number; readonly tokens: number }
  /** The counter did not answer. */
  | { readonly kind: 'silent'; readonly cause: string };

/** The rates of a worker. */
export interface Rates {
  /** The moment of a request whose prompt has about so many tokens. */
  readonly next: (model: string, rate: Rate, asked: Asked) => Promise<Moment>;
  /** What a request of so many estimated tokens took. */
  readonly ended: (request: EndedRequest) => void;
}

/** A request that has ended. */
export interface EndedRequest {
  readonly model: string;
  /** The tokens that its moment was for. */
  readonly estimated: number;
  readonly asked: Asked;
  readonly usage: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;
}

/** What is known of a request before it is sent. */
export interface Asked {
  readonly promptTokens: number;
  /** The most that its reply may have; absent: the provider decides. */
  readonly maxOutputTokens?: number | undefined;
}

/** Tokens of a reply of an entry that has not yet answered. */
const FIRST_OUTPUT = 500;

/** How much the newest request counts in what the next are estimated by. */
const NEWEST = 0.2;

/** Tokens of a prompt, or of a reply. */
const MOST_USED = 2_000_000;

/** How long a correction may wait for a request that takes it along, in milliseconds. */
const CORRECT_WITHIN_MS = 5_000;

/** An entry in this worker. */
interface Entry {
  rate: Rate;
  readonly waiting: { readonly tokens: number; readonly resolve: (moment: Moment) => void }[];
  isAsking: boolean;
  corrected: number;
  known: RateMarks;
  /** How many times its prompt, as counted here, the provider counts. */
  promptRatio: number;
  output: number;
  timer: NodeJS.Timeout | null;
}

/** The rates of a worker that asks counters by `ask`. */
export function createRates(ask: AskCounter): Rates {
  const entries = new Map<string, Entry>();
  const entryOf = (model: string, rate: Rate): Entry => {
    const known = entries.get(model);
    if (known !== undefined) {
      known.rate = rate;
      return known;
    }
    const entry = newEntry(rate);
    entries.set(model, entry);
    return entry;
  };
  const flush = async (model: string, entry: Entry): Promise<void> => {
    if (entry.isAsking) return;
    entry.isAsking = true;
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    while (entry.waiting.length > 0 || entry.corrected !== 0) await lease(ask, model, entry);
    entry.isAsking = false;
  };
  return {
    next: (model, rate, asked) => {
      const entry = entryOf(model, rate);
      const tokens = estimateOf(entry, asked);
      return new Promise((resolve) => {
        entry.waiting.push({ tokens, resolve });
        void flush(model, entry);
      });
    },
    ended: ({ model, estimated, asked, usage: stated }) => {
      const entry = entries.get(model);
      if (entry === undefined || entry.rate.tokensPerMinute === undefined) return;
      const usage = believed(stated);
      learn(entry, asked, usage);
      entry.corrected += usage.inputTokens + usage.outputTokens - estimated;
      entry.timer ??= setTimeout(() => void flush(model, entry), CORRECT_WITHIN_MS).unref();
    },
  };
}

function newEntry(rate: Rate): Entry {
  return {
    rate,
    waiting: [],
    isAsking: false,
    corrected: 0,
    known: { requestsAt: 0, tokensAt: 0 },
    promptRatio: 1,
    output: FIRST_OUTPUT,
    timer: null,
  };
}

/** Asks for all that wait. Never rejects. */
async function lease(ask: AskCounter, model: string, entry: Entry): Promise<void> {
  const asked = entry.waiting.splice(0, MAX_LEASED);
  const { rate, corrected, known } = entry;
  entry.corrected = 0;
  const tokens = asked.map((one) => one.tokens);
  try {
    const { slots, marks } = await ask(counterIdOf(model), {
      v: 1,
      rate,
      tokens,
      corrected,
      known,
    });
    if (isMark(marks.requestsAt) && isMark(marks.tokensAt)) entry.known = marks;
    for (const [index, one] of asked.entries()) {
      const at = slots[index];
      one.resolve(
        at === undefined || !isMark(at)
          ? { kind: 'silent', cause: 'it gave no moment' }
          : { kind: 'at', at, tokens: one.tokens },
      );
    }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    // A correction that is lost is made up for by no other: it is sent with the next request.
    if (asked.length > 0) entry.corrected += corrected;
    for (const one of asked) one.resolve({ kind: 'silent', cause });
  }
}

/** Whether a counter that keeps its word says so; its answer is data of another process. */
function isMark(at: number): boolean {
  return Number.isFinite(at) && at <= Date.now() + 2 * MOST_AHEAD_MS;
}

function believed({ inputTokens, outputTokens }: EndedRequest['usage']): EndedRequest['usage'] {
  const most = (tokens: number): number => Math.min(Math.max(0, tokens || 0), MOST_USED);
  return { inputTokens: most(inputTokens), outputTokens: most(outputTokens) };
}

function estimateOf(
  { promptRatio, output }: Entry,
  { promptTokens, maxOutputTokens }: Asked,
): number {
  return Math.ceil(promptTokens * promptRatio + Math.min(output, maxOutputTokens ?? Infinity));
}

/** The next requests are estimated by what this one took. */
function learn(entry: Entry, { promptTokens }: Asked, usage: EndedRequest['usage']): void {
  entry.output += NEWEST * (usage.outputTokens - entry.output);
  if (promptTokens === 0) return;
  const ratio = Math.min(10, usage.inputTokens / promptTokens);
  entry.promptRatio += NEWEST * (ratio - entry.promptRatio);
}

/** Whether the moment `at` has passed, so that a request needs another one. */
export function hasPassed(at: number, now: number): boolean {
  return now > at + LATE_MS;
}
