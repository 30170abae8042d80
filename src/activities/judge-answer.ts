import { Context } from '@temporalio/activity';
import type { JudgeOrder, JudgeResult } from '../core/contract/outcome.ts';
import { unreachable } from '../core/base/unreachable.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { workerShutdown } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';
import { runJudge } from '../tools/run-judge.ts';
import { isStoppedByService } from './stop-reason.ts';
import { agentMissing, validatorFailed } from './tool-failures.ts';

/**
 * The activity `judgeAnswer`. An error of a validator fails the attempt with `validator_failed`,
 * which is retried; when canceled, it ends as canceled.
 */
export function judgeAnswerActivity(
  registry: Registry,
): (order: JudgeOrder) => Promise<JudgeResult> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    const context = Context.current();
    const run = await withHeartbeat(() =>
      runJudge(agent, order, {
        attempt: context.info.attempt,
        signal: context.cancellationSignal,
      }),
    );
    switch (run.kind) {
      case 'judged':
        return run.result;
      case 'threw':
        throw validatorFailed(run.message);
      case 'stopped':
        if (isStoppedByService()) throw workerShutdown();
        return context.cancelled;
      default:
        return unreachable(run);
    }
  };
}
