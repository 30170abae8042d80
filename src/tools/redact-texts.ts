/**
 * Calls the function with which an agent takes a user's patterns out of texts.
 *
 * I1  It ends within {@link MAX_MS} for all texts together, even in an expression that would never
 *     end: the engine cuts it off.
 * I2  What it returns is text, and not much longer than what it got.
 */
import { createContext, Script, type Context } from 'node:vm';
import { UsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import type { RedactText } from '../define/definition/definitions.ts';

/** No other call of this process can go on meanwhile, and heartbeats must not come too late. */
const MAX_MS = 1_000;

/** How much longer the texts may become. */
const MAX_GROWTH = 2;
const MAX_MORE_CHARACTERS = 65_536;

/**
 * `texts` as `redact` of the agent `name` returns them.
 *
 * @throws UsageError `agent_redact` if it returns something else than text, or far too much; an Error
 * if it throws, or takes too long.
 */
export function redactTexts(
  name: string,
  redact: RedactText,
  texts: readonly string[],
): readonly string[] {
  const sum = (all: readonly string[]): number => all.reduce((size, text) => size + text.length, 0);
  const most = MAX_GROWTH * sum(texts) + MAX_MORE_CHARACTERS;
  let size = 0;
  return within(name, () =>
    texts.map((text) => {
      const result: unknown = redact(text);
      if (typeof result !== 'string') {
        // The error says what is wrong; a promise that fails must not be one more.
        Promise.resolve(result).catch(() => undefined);
        throw invalid(name, 'a text', result instanceof Promise ? 'a promise' : shown(result));
      }
      size += result.length;
      if (size > most) throw invalid(name, `at most ${most} characters`, 'more');
      return result;
    }),
  );
}

function invalid(name: string, expected: string, got: string): UsageError {
  return new UsageError(
    'agent_redact',
    `Expected \`redact\` of ${name} to return ${expected}, got ${got}. Correct it.`,
  );
}

/** Made when it is first needed. */
let place:
  { readonly context: Context; readonly seat: { work: (() => void) | undefined } } | undefined;
const script = new Script('work()');

/** Runs `work`, and cuts it off after {@link MAX_MS}: only a script of `node:vm` can be cut off. */
function within<Result>(name: string, work: () => Result): Result {
  if (place === undefined) {
    const seat = { work: undefined };
    place = { seat, context: createContext(seat) };
  }
  let ended: { readonly result: Result } | undefined;
  place.seat.work = () => {
    ended = { result: work() };
  };
  try {
    script.runInContext(place.context, { timeout: MAX_MS });
  } catch (error) {
    const { code } = Object(error) as { readonly code?: unknown };
    if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(
      `\`redact\` of ${name} took longer than ${MAX_MS} ms, so no model was asked. Use a pattern without nested repetitions.`,
    );
  } finally {
    place.seat.work = undefined;
  }
  if (ended === undefined) throw new Error(`\`redact\` of ${name} did not end.`);
  return ended.result;
}
