/**
 * Guards: what a person writes is looked at before a model sees it. One call of the worker, recorded
 * once; until it ends, nothing else of the run begins.
 */
import { defined } from '../base/defined.ts';
import type { GuardVerdict } from '../contract/judgement.ts';
import type { Ending } from '../run/ending.ts';
import type { Run } from '../run/run.ts';
import type { Carried, RunState } from '../run/run-state.ts';
import { guardEvents } from '../run/turn-record.ts';

/** Whether the guards of the run have yet to see its task. */
export function mustGuard({ head, guarded }: RunState): boolean {
  return guarded !== true && head.spec.guards !== undefined;
}

/** Has the guards look at the task; the ending if they block it. What they write replaces the task. */
export function guardTask(run: Run): Promise<Ending | null> {
  const { task } = run.state.head;
  return guardText(run, task.text, (verdict) => ({
    guarded: verdict.kind === 'rewritten' ? { ...task, text: verdict.text } : task,
  }));
}

/**
 * Has the guards of the run look at `text`, outside of any iteration; the ending if they block it, and
 * null else, also when a cancel or an input came first: then they have not decided, and are asked again.
 * `carry` puts the text that models may see into the state.
 */
async function guardText(
  run: Run,
  text: string,
  carry: (verdict: GuardVerdict) => Carried,
): Promise<Ending | null> {
  const { runId, agentPath, iteration, head, conversation, tenant, by } = run.state;
  const { name: agent, guards = [] } = head.spec;
  const begunAt = run.host.now();
  const outcome = await run.host.judgeAnswer({
    agent,
    runId,
    ...defined({ conversation, tenant, by: by ?? undefined }),
    agentPath,
    iteration,
    validators: [],
    answers: [],
    sections: [],
    guarded: { text, guards },
  });
  if (outcome.kind === 'aborted') return null;
  if (outcome.kind === 'failed') {
    return { kind: 'error', code: 'validator_failed', cause: outcome.message };
  }
  const { guarded: verdict = { kind: 'passed' } } = outcome.result;
  const checked = { ...outcome.result, durationMs: run.host.now() - begunAt };
  for (const event of guardEvents(verdict, checked, text)) {
    run.record(event, event.type === 'agent:guarded' ? carry(verdict) : {});
  }
  if (verdict.kind !== 'blocked') return null;
  return { kind: 'error', code: 'blocked', cause: verdict.reason };
}
