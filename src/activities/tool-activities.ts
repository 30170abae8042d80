/** The activities that load agents, run tools and judge answers, and their failures. */
import { Context } from '@temporalio/activity';
import { unreachable } from '../core/base/unreachable.ts';
import type { RegisteredAgent, Registry } from '../define/definition/definitions.ts';
import type { EverloopActivities } from './activity-types.ts';
import { retryable, workerShutdown } from './failures.ts';
import { withHeartbeat, isStoppedByService } from './heartbeat.ts';
import type { Isolation } from '../tools/isolation.ts';
import { runTool } from '../tools/run-tool.ts';
import { runJudge } from '../tools/run-judge.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { redactedErrorText } from '../tools/redact.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { loadAgent, type PreparedAgent } from '../registry/load-agent.ts';
import { ApplicationFailure } from '@temporalio/common';

/**
 * The activity `callTool`. Returns the outcome of the call, canceled ones included. Throws only
 * when the service should retry, that is, while the tool's retry policy has attempts left.
 */
export function callToolActivity(
  registry: Registry,
  isolation: Isolation,
): EverloopActivities['callTool'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    const context = Context.current();
    const run = await withHeartbeat(() =>
      runTool(agent, order, {
        attempt: context.info.attempt,
        signal: context.cancellationSignal,
        isShutdown: isStoppedByService,
        isolation,
      }),
    );
    switch (run.kind) {
      case 'result':
        return run.result;
      case 'retry':
        throw retryable('tool_failed', run.message);
      case 'shutdown':
        throw workerShutdown();
      default:
        return unreachable(run);
    }
  };
}

/**
 * The activity `judgeAnswer`. An error of a validator fails the attempt with `validator_failed`,
 * which is retried; when canceled, it ends as canceled.
 */
export function judgeAnswerActivity(registry: Registry): EverloopActivities['judgeAnswer'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
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
        throw retryable('validator_failed', run.message);
      case 'stopped':
        if (isStoppedByService()) throw workerShutdown();
        return context.cancelled;
      default:
        return unreachable(run);
    }
  };
}

/** The local activity `checkLiterals`. */
export function checkLiteralsActivity(registry: Registry): EverloopActivities['checkLiterals'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    const verdicts = await unlessCanceled(() => checkLiterals(agent, order));
    return [...verdicts, ...checkProgramLiterals(agent, order.literals)];
  };
}

/**
 * Ends a check as canceled at once, since its functions get no signal. When the worker stops, the
 * check may finish: a local activity cannot move to another worker.
 */
async function unlessCanceled<Result>(check: () => Promise<Result>): Promise<Result> {
  const { cancelled } = Context.current();
  const checked = check();
  const canceled = cancelled.catch((error: unknown) => {
    if (isStoppedByService()) return checked;
    throw error;
  });
  return Promise.race([checked, canceled]);
}

/** The local activity `needsApproval`; it is retried when the function throws. */
export function needsApprovalActivity(registry: Registry): EverloopActivities['needsApproval'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    return unlessCanceled(async () => {
      try {
        return await isApprovalNeeded(agent, order);
      } catch (error) {
        throw retryable('tool_failed', redactedErrorText(error));
      }
    });
  };
}

/**
 * The activity `loadAgent`, for use as a local activity. When the run cannot begin, it fails with
 * the type `agent_not_found` or `invalid_input` and is not retried.
 */
export function loadAgentActivity(
  registry: Registry,
): (input: AgentInput) => Promise<PreparedAgent> {
  return async (input) => {
    const outcome = loadAgent(registry, input);
    if (outcome.kind === 'loaded') return outcome.agent;
    const { code, message } = outcome;
    throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
  };
}

/** The agent of a run. If this worker lacks it, the call is retried: another worker may have it. */
function agentOf(registry: Registry, name: string): RegisteredAgent {
  const agent = registry.agents.get(name);
  if (agent !== undefined) return agent;
  const message = `This worker has no agent \`${name}\`. Start a worker that has it.`;
  throw retryable('agent_not_found', message);
}
