/** The status of a run: what its workflow says, what its Step says, and what the service says. */
import type { Client } from '@temporalio/client';
import type { RunStatus } from '../../core/contract/messages.ts';
import type { Stats } from '../../core/contract/stats.ts';
import type { Step } from '../../core/contract/step.ts';
import { statsQuery, statusQuery } from '../../workflows/messages.ts';
import { describeRun } from '../connection/own-run.ts';
import { queryOpen, stepOrNull } from './ended-run.ts';
import { queryClosed } from './run-reader.ts';
import { inTrace } from '../connection/service-calls.ts';

/** How the service names the end of a workflow that could not end by itself. */
const CLOSED: Readonly<Record<string, NonNullable<RunStatus['closed']>>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  CANCELLED: 'canceled',
};

/**
 * The status of run `id`. That of an ended run is in its Step. A run that was terminated or timed
 * out has none, and never learned of its end: its workflow still answers as before.
 *
 * @throws UsageError as `querying`.
 */
export async function readStatus(client: Client, id: string): Promise<RunStatus> {
  const open = await queryOpen(client, id, (handle) => handle.query(statusQuery));
  if (open !== null) return traced(open.answer);
  const step = await stepOrNull(client, id);
  const ended = step === null ? null : statusOfStep(step);
  if (ended !== null) return ended;
  const last = traced(await queryClosed(client, { id }, (run) => run.query(statusQuery)));
  if (last.state === 'ended') return last;
  const { status } = await describeRun(client, id);
  return { ...last, state: 'ended', waitsFor: [], closed: CLOSED[status.name] ?? 'failed' };
}

function traced(status: RunStatus): RunStatus {
  return status.step === undefined ? status : { ...status, step: inTrace(status.step) };
}

/** The last status of the run that ended with `step`. */
function statusOfStep(step: Step): RunStatus {
  const { chain, unreadInputs } = step.trace;
  const { links, events, entries, inputs } = chain;
  const { schemaUsed: _schema, fallbackUsed: _fallback, ...usage } = step.usage;
  return {
    version: events + inputs,
    state: 'ended',
    runId: step.runId,
    agent: step.agent,
    iteration: step.iterations,
    waitsFor: [],
    usage,
    unreadInputs: unreadInputs.length,
    link: links,
    events,
    entries,
    step,
  };
}

/** All statistics of run `id`; those of an ended run are in its Step. */
export async function readStats(client: Client, id: string): Promise<Stats> {
  const open = await queryOpen(client, id, (handle) => handle.query(statsQuery));
  if (open !== null) return open.answer;
  const step = await stepOrNull(client, id);
  if (step !== null) return step.stats;
  return queryClosed(client, { id }, (run) => run.query(statsQuery));
}
