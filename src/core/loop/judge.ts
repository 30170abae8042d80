/** Checking answers on the worker, and recording how they were judged. */
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import type { Candidate, Judgement } from '../contract/judgement.ts';
import type { JudgeResult } from '../contract/outcome.ts';
import { leaving } from '../run/ending.ts';
import type { Iteration } from '../run/iteration.ts';
import { leaveIfAsked, type Run } from '../run/run.ts';
import { fitJudgement } from '../run/step-size.ts';
import { judgementEvents } from '../run/turn-record.ts';
import { judge, needsCheck, valuesToCheck } from '../termination/candidates.ts';

/** The values of one reply that must be checked. */
export interface CheckedValues {
  readonly answers: readonly Json[];
  readonly sections: readonly { readonly name: string; readonly value: Json }[];
}

/** Checks values on the worker; leaves the iteration when it cannot. */
export async function checkValues(
  { run, open }: Iteration,
  values: CheckedValues,
): Promise<JudgeResult> {
  // After a breach an answer in hand may still be judged, after a cancel it may not.
  if (run.host.mailbox.peek().cancel !== null) throw leaving({ kind: 'stopped' });
  const { runId, agentPath, iteration, head, conversation, tenant, by } = run.state;
  const { name: agent, answer } = head.spec;
  const { validators } = answer;
  open.count += 1;
  const order = {
    agent,
    runId,
    ...defined({ conversation, tenant, by: by ?? undefined }),
    agentPath,
    iteration,
    validators,
    ...values,
  };
  const begunAt = run.host.now();
  const outcome = await run.host.judgeAnswer(order);
  open.count -= 1;
  switch (outcome.kind) {
    case 'judged':
      return { ...outcome.result, durationMs: run.host.now() - begunAt };
    case 'aborted':
      leaveIfAsked(run);
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: 'the check was aborted' });
    case 'failed':
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: outcome.message });
  }
}

/** The run whose answers are judged, and the check on the worker. */
export interface Judge {
  readonly run: Run;
  readonly check: (values: CheckedValues) => Promise<JudgeResult>;
}

/**
 * Judges candidates for the answer and records the judgement; `text` is what was written. With
 * `if accepted`, any other judgement leaves no event.
 */
export async function judgeCandidates(
  { run, check }: Judge,
  candidates: readonly Candidate[],
  text: string,
  recorded: 'always' | 'if accepted' = 'always',
): Promise<Judgement> {
  const isChecked = needsCheck(run.state.head.spec.answer);
  const answers = valuesToCheck(candidates);
  const checked = isChecked && answers.length > 0 ? await check({ answers, sections: [] }) : null;
  const judged = judge(candidates, isChecked ? (checked?.verdicts ?? []) : null);
  const judgement = fitJudgement(run, judged);
  if (recorded === 'always' || judgement.kind === 'accepted') {
    for (const event of judgementEvents(judgement, checked, text)) run.record(event);
  }
  return judgement;
}
