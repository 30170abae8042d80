/** Quick checks of a call before it runs: local activities, or any worker if this one lacks a tool. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AttemptFailure } from '../../core/attempt/failure.ts';
import { stepAfter } from '../../core/attempt/table.ts';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import type { ApprovalOutcome, LiteralsOutcome } from '../../core/contract/host-outcome.ts';
import type {
  LiteralFindings,
  LiteralsOrder,
  LiteralVerdict,
} from '../../core/contract/outcome.ts';
import { byteSize, type Json } from '../../core/base/json.ts';
import type { Host } from '../../core/run/host.ts';
import { CHECK_OPTIONS, checkElsewhereOptions, onAnyWorker } from './activity-options.ts';
import type { RunCall } from './open-call.ts';
import { onFailureElsewhere, type Elsewhere } from './retry-elsewhere.ts';

/** The checks of a host. */
export type QuickChecks = Pick<Host, 'needsApproval' | 'checkLiterals'>;

/** What the checks need from their host. */
export interface CheckParts {
  readonly runtime: ActivityRuntime;
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
}

/** Bytes of JSON of arguments that are checked here: their result leaves with the task. */
const MAX_HERE_BYTES = 32_768;

function isSmall(order: LiteralsOrder): boolean {
  return byteSize(order as unknown as Json) <= MAX_HERE_BYTES;
}

type Checked = readonly (LiteralVerdict | LiteralFindings)[];

/** The checks of a run. */
export function quickChecks({ runtime, run, elsewhere }: CheckParts): QuickChecks {
  const here = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const anywhere = proxyActivities<EverloopActivities>(onAnyWorker(checkElsewhereOptions(runtime)));
  return {
    needsApproval: (order, tool) =>
      run<boolean, ApprovalOutcome>({
        label: `approval check of ${tool.name}`,
        schedule: () => here.needsApproval(order),
        onResult: approval,
        onFailure: onFailureElsewhere(elsewhere, {
          again: () => anywhere.needsApproval(order),
          onResult: approval,
          onFailure: checkEnd,
        }),
      }),
    checkLiterals: (order) =>
      run<Checked, LiteralsOutcome>({
        label: 'argument check',
        schedule: () => (isSmall(order) ? here : anywhere).checkLiterals(order),
        onResult: literals,
        onFailure: onFailureElsewhere(elsewhere, {
          again: () => anywhere.checkLiterals(order),
          onResult: literals,
          onFailure: checkEnd,
        }),
      }),
  };
}

/** The outcome of a check that failed for good, or was stopped. */
function checkEnd({
  kind,
  message,
}: AttemptFailure): Extract<ApprovalOutcome, { readonly kind: 'aborted' | 'failed' }> {
  const isStopped = stepAfter('judgement', kind) === 'stop';
  return isStopped ? { kind: 'aborted' } : { kind: 'failed', message };
}

function approval(needed: boolean): ApprovalOutcome {
  return { kind: 'known', needed };
}

function literals(checked: Checked): LiteralsOutcome {
  return {
    kind: 'checked',
    verdicts: checked.filter((one) => one.kind !== 'literal'),
    literals: checked.filter((one) => one.kind === 'literal'),
  };
}
