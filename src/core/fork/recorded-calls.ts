/** The calls that the source of a fork made after the moment: their results, and how they are listed. */
import { canonicalJson } from '../base/json.ts';
import { defined } from '../base/defined.ts';
import type { ToolCall } from '../base/message.ts';
import { FORK_EFFECTS, type CallAfter } from '../base/fork.ts';
import type { RecordedResult } from '../contract/outcome.ts';
import type { ProbedCall } from '../run/host.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';

/** By this a call of a fork is equal to one of its source. */
export function callKey({ tool, args }: Pick<ToolCall, 'tool' | 'args'>): string {
  return `${tool} ${canonicalJson(args)}`;
}

/**
 * The results that equal calls of a fork may get. What a call spent was spent by the source, and a
 * call that was stopped has no result.
 */
export function recordedResults(calls: readonly ProbedCall[]): readonly RecordedResult[] {
  return calls.flatMap(({ call, result, edited }) => {
    const {
      modelCalls: _spent,
      losses: _losses,
      external: _external,
      input: _input,
      ...kept
    } = result;
    if (result.outcome !== 'ok' && result.outcome !== 'error') return [];
    const { callId } = call;
    return [
      { callId, key: callKey(call), result: { ...kept, attempts: 0 }, ...defined({ edited }) },
    ];
  });
}

/** The calls that may change something: neither reads nor questions. */
export function changingCalls(calls: readonly CallAfter[]): readonly CallAfter[] {
  return calls.filter(({ tool, effect }) => effect !== 'read' && tool !== ASK_TOOL);
}

/** `refund (once) ×1, send_mail (idempotent) ×2`: at most 20 tools. */
export function listedCalls(calls: readonly CallAfter[]): string {
  const counts = new Map<string, number>();
  for (const { tool, effect } of calls) {
    const name = `${tool} (${effect})`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const listed = [...counts].map(([name, count]) => `${name} ×${count}`);
  const more = listed.length > MAX_LISTED ? ', …' : '';
  return `${listed.slice(0, MAX_LISTED).join(', ')}${more}`;
}

const MAX_LISTED = 20;

/** Why a fork must say what its calls do. */
export function noEffectsText(iteration: number, calls: readonly CallAfter[]): string {
  return `Expected \`effects\` to be one of ${FORK_EFFECTS.join(', ')}, got none, and the source made calls from iteration ${iteration} on that the fork may repeat: ${listedCalls(calls)}. Choose one.`;
}
