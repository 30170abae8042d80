/**
 * Ends of outside work that are reported before the tool has said that its work goes on outside: a
 * webhook may be quicker than the tool that asked for it. They wait in the inbox, as any answer does,
 * until the item of their call appears.
 *
 * I1  Only a call that is in progress has them: its tool knows the id. No other id is ever kept.
 * I2  They are bounded, and dropped with a warning when their call ends without them.
 */
import { byteSize, type Json } from '../base/json.ts';
import type { PersonAnswer } from '../contract/pending.ts';
import type { Inbox } from '../run/inbox.ts';
import type { Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';
import { toolOf } from '../tool-search/stubs.ts';
import { ASK_TOOL } from '../toolchain/ask-user.ts';

/** How many a run keeps at once, and their bytes of JSON. */
const MAX_EARLY = 100;
const MAX_EARLY_BYTES = 1_000_000;

/** How long one is kept, in ms: a call that takes longer has lost whoever reported its end. */
export const EARLY_MS = 86_400_000;

/** The ids of calls that may yet say that their work goes on outside. */
export function callsInProgress(state: RunState | null): readonly string[] {
  if (state === null) return [];
  const { openCalls = [], pending = [] } = state;
  const mayGoOn = (name: string): boolean => {
    const tool = toolOf(state, name);
    return tool !== undefined && tool.agent === undefined && tool.llm === undefined;
  };
  return openCalls
    .filter(({ callId, tool }) => {
      const isWaiting = pending.some((item) => item.callId === callId);
      return !isWaiting && tool !== ASK_TOOL && mayGoOn(tool);
    })
    .map(({ callId }) => callId);
}

/** The early answers of an inbox, oldest first. */
export function earlyAnswers({ answers = [] }: Inbox): readonly PersonAnswer[] {
  return answers.filter(({ early }) => early !== undefined);
}

/** Why there is no room for an early answer with `value`; null when there is. */
export function earlyRoom(inbox: Inbox, value: Json): string | null {
  const kept = earlyAnswers(inbox);
  if (kept.length >= MAX_EARLY) {
    return `Expected at most ${MAX_EARLY} calls whose end is reported before they wait for it, got one more. Report it again later.`;
  }
  const bytes = [...kept.map(valueOf), value].reduce<number>((sum, one) => sum + byteSize(one), 0);
  return bytes <= MAX_EARLY_BYTES
    ? null
    : `Expected at most ${MAX_EARLY_BYTES} bytes in ends that are reported before their calls wait for them, got ${bytes}. Report it again later.`;
}

function valueOf(answer: PersonAnswer): Json {
  return answer.kind === 'answer' ? answer.value : null;
}

/** Drops what came early for a call that has ended without it. */
export function dropEarly(run: Run, callId: string): void {
  const { mailbox } = run.host;
  if (!earlyAnswers(mailbox.peek()).some(({ id }) => id === callId)) return;
  mailbox.takeAnswer(callId);
  const message = `call ${callId} has ended, but not by the end of outside work that was reported for it`;
  run.record({ type: 'agent:warning', code: 'early_answer_unused', message });
}
