/**
 * Bounds what a console asks of the service: a time for each answer, and a number of reads at once.
 *
 * I1  However many tabs ask, an open read is shared by equal ones for {@link SHARED_MS} after its
 *     beginning. A later one begins anew: the answer of the first may be old, or never come.
 * I2  A read that takes longer than its answer goes on, and counts until it ends; its own deadline is
 *     that of the client.
 * I3  What is known in time is answered, and the rest is named with its reason.
 */
import type { ApiError, MissingPart, PartialAnswer } from './api.ts';
import { apiErrorOf, ConsoleRefusal } from './refusal.ts';

/** How long an answer may take, in ms. */
export const ANSWER_MS = 12_000;

/** How long after its beginning a read is shared, in ms. */
const SHARED_MS = 1_000;

/** Reads at once, of all tabs together. */
const MAX_READS = 200;

/** Shared and bounded reads. */
export interface BoundedReads {
  /** What `read` gives, or the read of the same `key` that is open already. Times out. */
  readonly once: <Value>(key: string, read: () => Promise<Value>) => Promise<Value>;
}

/** Reads of one console, each answered within `withinMs`. */
export function createReads(withinMs: number = ANSWER_MS, most: number = MAX_READS): BoundedReads {
  const shared = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();
  let open = 0;
  const once = async <Value>(key: string, read: () => Promise<Value>): Promise<Value> => {
    const known = shared.get(key);
    const at = performance.now();
    if (known !== undefined && at - known.at < SHARED_MS) {
      return within(withinMs, known.answer as Promise<Value>);
    }
    if (open >= most) throw new ConsoleRefusal('busy', 'Too much is asked for at once. Try again.');
    const answer = read().finally(() => {
      open -= 1;
      if (shared.get(key)?.answer === answer) shared.delete(key);
    });
    open += 1;
    shared.set(key, { at, answer });
    return within(withinMs, answer);
  };
  return { once };
}

/** What `work` gives, or a refusal with `message` after `ms`. */
export async function within<Value>(
  ms: number,
  work: Promise<Value>,
  message: string = TOO_LATE,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ConsoleRefusal('busy', message)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const TOO_LATE = 'Expected an answer in time, got silence. It is asked again when you look again.';

/** The values of parts that could be read, and the others with their reasons. */
export type Gathered<Parts> = { readonly [Name in keyof Parts]?: Parts[Name] } & PartialAnswer;

/** Reads all parts at the same time. Never rejects. */
export async function gather<Parts extends object>(parts: {
  readonly [Name in keyof Parts]: Promise<Parts[Name]>;
}): Promise<Gathered<Parts>> {
  const values: Record<string, unknown> = {};
  const partial: MissingPart[] = [];
  await Promise.all(
    Object.entries<Promise<unknown>>(parts).map(async ([part, reading]) => {
      try {
        values[part] = await reading;
      } catch (error) {
        partial.push({ part, ...shownError(error) });
      }
    }),
  );
  const missing = partial.length === 0 ? {} : { partial };
  return { ...values, ...missing } as unknown as Gathered<Parts>;
}

function shownError(error: unknown): ApiError {
  const { code, message } = apiErrorOf(error);
  return { code, message };
}
