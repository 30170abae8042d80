/** Quick checks of a call before it runs: local activities, or any worker if this one lacks a tool. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AttemptFailure } from '../../core/attempt/failure.ts';
import {
  NOTHING_TRIED,
  stepAfter,
  type NextAttempt,
  type Tried,
} from '../../core/attempt/table.ts';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import type {
  ApprovalOutcome,
  CheckLoss,
  LiteralsOutcome,
} from '../../core/contract/host-outcome.ts';
import type {
  LiteralFindings,
  LiteralsOrder,
  LiteralVerdict,
} from '../../core/contract/outcome.ts';
import { byteSize, type Json } from '../../core/base/json.ts';
import type { Host } from '../../core/run/host.ts';
import { CHECK_OPTIONS, checkElsewhereOptions, onAnyWorker } from './activity-options.ts';
import type { TryCall } from './try-again.ts';

/** The checks of a host. */
export type QuickChecks = Pick<Host, 'needsApproval' | 'checkLiterals'>;

/** Bytes of JSON of arguments that are checked here: their result leaves with the task. */
const MAX_HERE_BYTES = 32_768;

function isSmall(order: LiteralsOrder): boolean {
  return byteSize(order as unknown as Json) <= MAX_HERE_BYTES;
}

type Checked = readonly (LiteralVerdict | LiteralFindings)[];

/** The checks of a run. */
export function quickChecks(runtime: ActivityRuntime, tryCall: TryCall): QuickChecks {
  const here = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const anywhere = proxyActivities<EverloopActivities>(onAnyWorker(checkElsewhereOptions(runtime)));
  return {
    needsApproval: (order, tool) =>
      tryCall<boolean, ApprovalOutcome, Tried>({
        label: `approval check of ${tool.name}`,
        before: NOTHING_TRIED,
        schedule: (_tried, isElsewhere) => (isElsewhere ? anywhere : here).needsApproval(order),
        onResult: approval,
        onFailure: afterCheckFailure,
      }),
    checkLiterals: (order) =>
      tryCall<Checked, LiteralsOutcome, Tried>({
        label: 'argument check',
        before: NOTHING_TRIED,
        schedule: (_tried, isElsewhere) =>
          (isElsewhere || !isSmall(order) ? anywhere : here).checkLiterals(order),
        onResult: literals,
        onFailure: afterCheckFailure,
      }),
  };
}

/** The service repeats a check, as it does a local read: what comes back is final. */
function afterCheckFailure({ kind, message }: AttemptFailure): NextAttempt<CheckLoss> {
  const step = stepAfter('local', kind);
  if (step === 'elsewhere') return { kind: 'elsewhere' };
  return {
    kind: 'end',
    outcome: step === 'stop' ? { kind: 'aborted' } : { kind: 'failed', message },
  };
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
