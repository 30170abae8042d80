/**
 * Notices a model that makes the same call over and over and gets the same result each time. A digest
 * and a count are kept, whatever the size of arguments and results.
 *
 * I1  Calls of programs do not count: a program may well poll, and its fuel bounds it.
 * I2  Equal calls of one reply count once: the model could not know the result of the first.
 */
import { EMPTY_DIGEST, rollDigest } from '../base/digest.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { ToolResult } from '../contract/outcome.ts';
import type { RepeatedCall } from '../run/run-state.ts';
import type { Run } from '../run/run.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';
import { repeatedCallText } from '../toolchain/call-texts.ts';

/** From so many replies in a row on, the model reads that it repeats a call. */
const WARNED_FROM = 5;

const GAUGE = 'agent:repeated_calls';

/** The call that ended, and in how many replies in a row; undefined if the run does not count it. */
export function repeatedCall(
  run: Run,
  tool: ToolSpec | undefined,
  { call, result }: { readonly call: ToolCall; readonly result: ToolResult },
): RepeatedCall | undefined {
  const { iteration, repeated } = run.state;
  if (result.outcome === 'canceled') return undefined;
  if (call.tool === ASK_TOOL || tool?.repeatable === true) return { digest: '', count: 0 };
  const digest = digestOf(call, result);
  if (repeated?.digest !== digest) return { digest, count: 1, iteration };
  return repeated.iteration === iteration
    ? repeated
    : { digest, count: repeated.count + 1, iteration };
}

/** What the model has made and read; reports of the tool are none of it. */
function digestOf({ tool, args }: ToolCall, result: ToolResult): string {
  const { outcome, output, error, instructions, media } = result;
  const read = [outcome, output ?? null, error ?? null, instructions ?? null, media ?? null];
  const asked = rollDigest(EMPTY_DIGEST, canonicalJson([tool, args]));
  return rollDigest(asked, canonicalJson(read as unknown as Json));
}

/** What the model reads above the result of a call that it repeats; undefined below five. */
export function repeatedText(run: Run, repeats = 0): string | undefined {
  if (repeats < WARNED_FROM) return undefined;
  const limit = run.state.limits.find(({ kind, key }) => kind === 'exact' && key === GAUGE);
  return repeatedCallText(repeats, limit === undefined ? undefined : Math.floor(limit.max) + 1);
}

/** Says in the event log, once for each streak, that the model repeats a call. */
export function warnOfRepeats(run: Run, tool: string, repeats: number | undefined): void {
  if (repeats !== WARNED_FROM) return;
  const message = `\`${tool}\` was called in ${WARNED_FROM} replies in a row with the same arguments and the same result. If that is meant, set \`repeatable\` of the tool.`;
  run.record({ type: 'agent:warning', code: 'repeated_calls', message });
}
