/**
 * The calls of a turn that ran beside its reply. They are recorded before any other call of the turn
 * begins: they ran, so they count first.
 */
import { defined } from '../base/defined.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallEnd, BesideRead } from '../contract/outcome.ts';
import type { Run } from '../run/run.ts';
import { recordEnd, type StartedCall } from './begun-calls.ts';
import type { CallSite } from './call-site.ts';
import { begunEvent, recordCall } from './record-call.ts';
import { startCall } from './run-call.ts';

/** The calls that ran, by their ids. */
export type EndedReads = ReadonlyMap<string, StartedCall>;

/** Takes and records those of `calls` that ran beside the reply. */
export async function takeReads(
  context: CallSite,
  calls: readonly ToolCall[],
  shownTools: ReadonlySet<string>,
): Promise<EndedReads> {
  const { run, reads } = context;
  const ended = new Map<string, StartedCall>();
  const recorded: Promise<CallEnd>[] = [];
  for (const call of calls) {
    const read = reads.find(call);
    if (read === undefined || read.again !== undefined) continue;
    const startedAt = run.host.now() - read.durationMs;
    const started: StartedCall = {
      kind: 'started',
      call,
      startedAt,
      pending: startCall(context, call),
    };
    const pending = Promise.resolve(started.pending).then((end) => {
      const repeats = recordEnd(run, started, end, shownTools);
      return { ...end, isRecorded: true as const, ...defined({ repeats }) };
    });
    ended.set(call.callId, { ...started, pending });
    // Outside work that it began may take days, and so may the answer to its question.
    const { external, input } = read.result;
    if (external === undefined && input === undefined) recorded.push(pending);
  }
  await Promise.all(recorded);
  return ended;
}

/** The end of a call that was stopped beside the reply and does not begin again; undefined: it was not. */
export function endStoppedRead({ run, reads }: CallSite, call: ToolCall): StartedCall | undefined {
  const read = reads.take(call);
  if (read === undefined) return undefined;
  run.record(begunEvent(run, call));
  const endedAt = run.host.now();
  const pending: CallEnd = { result: read.result, endedAt };
  return { kind: 'started', call, startedAt: endedAt - read.durationMs, pending };
}

/** Records a read whose reply was thrown away: it ran, so it counts. */
export function recordLostRead(run: Run, call: ToolCall, { result, durationMs }: BesideRead): void {
  const endedAt = run.host.now();
  run.record(begunEvent(run, call));
  const startedAt = endedAt - durationMs;
  recordCall(run, { call, startedAt }, { result, endedAt }, new Set());
}
