/** Outside work that a tool has begun: the call ends when the end of the work is reported. */
import { defined } from '../base/defined.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallEnd, ExternalWork, ToolResult } from '../contract/outcome.ts';
import type { ExternalItem } from '../contract/pending.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { deadlineOf, waitForPerson } from '../people/wait-for-person.ts';
import { canceledCallText, toolTimeoutText } from '../toolchain/call-texts.ts';
import {
  capForProgram,
  capOutput,
  type CappedOutput,
  type RefusedOutput,
} from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { CallSite } from './call-site.ts';

/** A call in progress. */
export interface CallInProgress extends ToolCall {
  readonly spec: ToolSpec;
  /** Set when a person has approved it. */
  readonly startedAt?: number;
  readonly isEdited?: true;
}

/** Notes that the tool has returned while its work goes on outside, and waits for the end. */
export async function beginExternal(
  context: CallSite,
  call: CallInProgress,
  { external, ...begun }: ExternalItem['begun'] & { readonly external: ExternalWork },
): Promise<CallEnd> {
  const { run } = context;
  const { callId, tool, args, isEdited } = call;
  const { details, timeoutMs } = external;
  const now = run.host.now();
  const item: ExternalItem = {
    kind: 'external',
    id: callId,
    callId,
    since: now,
    ...deadlineOf(now, timeoutMs),
    ...defined({ tool, args, details, begun, edited: isEdited }),
  };
  run.record({ type: 'agent:external:begun', callId, tool }, { item });
  return awaitExternal(context, call, item);
}

/** Waits for the end of work outside, which this link or an earlier one began. */
export async function awaitExternal(
  context: CallSite,
  call: CallInProgress,
  item: ExternalItem,
): Promise<CallEnd> {
  const { run, program } = context;
  const { callId, tool, spec } = call;
  const { begun, timeoutMs = 0 } = item;
  const end = await waitForPerson(context, item);
  const endedAt = run.host.now();
  const ended = (
    outcome: 'ok' | 'error' | 'canceled',
    result: CappedOutput | RefusedOutput | Pick<ToolResult, 'outcome' | 'error'>,
  ): CallEnd => {
    const by = end.kind === 'answer' ? end.by : undefined;
    run.record({
      type: 'agent:external:ended',
      callId,
      outcome,
      waitedMs: endedAt - item.since,
      ...defined({ by }),
    });
    return { result: { ...begun, ...result }, endedAt, ...tracesOf(call) };
  };
  switch (end.kind) {
    case 'answer': {
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      const capped =
        program === undefined
          ? capOutput(end.value, spec.maxResultBytes, toolchain)
          : capForProgram(tool, end.value, spec.maxResultBytes);
      return ended('ok', capped);
    }
    case 'timed_out':
      return ended('error', { outcome: 'error', error: toolTimeoutText(tool, timeoutMs) });
    case 'decision':
    case 'stopped':
      // A decision is never accepted for work outside.
      return ended('canceled', { outcome: 'canceled', error: canceledCallText });
  }
}

/** What the end of a call records about its approval: its start, and edited arguments. */
export function tracesOf({
  startedAt,
  isEdited,
  args,
}: CallInProgress): Pick<CallEnd, 'startedAt' | 'edited'> {
  return defined({ startedAt, edited: isEdited === true ? args : undefined });
}
