/** The activities that load agents, run tools and judge answers, and their failures. */
import { Context } from '@temporalio/activity';
import type {
  ToolOrder,
  ToolResult,
  JudgeOrder,
  JudgeResult,
  LiteralFindings,
  LiteralsOrder,
  LiteralVerdict,
} from '../core/contract/outcome.ts';
import { unreachable } from '../core/base/unreachable.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { workerShutdown } from './failures.ts';
import { withHeartbeat, isStoppedByService } from './heartbeat.ts';
import { runTool } from '../tools/run-tool.ts';
import { runJudge } from '../tools/run-judge.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { redactedErrorText } from '../tools/redact.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { loadAgent, type PreparedAgent } from '../registry/load-agent.ts';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../core/base/failure-types.ts';

/**
 * The activity `callTool`. Returns the outcome of the call, canceled ones included. Throws only
 * when the service should retry, that is, while the tool's retry policy has attempts left.
 */
export function callToolActivity(registry: Registry): (order: ToolOrder) => Promise<ToolResult> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    const context = Context.current();
    const run = await withHeartbeat(() =>
      runTool(agent, order, {
        attempt: context.info.attempt,
        signal: context.cancellationSignal,
        isShutdown: isStoppedByService,
      }),
    );
    switch (run.kind) {
      case 'result':
        return run.result;
      case 'retry':
        throw toolFailed(run.message);
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

/** The local activity `checkLiterals`. */
export function checkLiteralsActivity(
  registry: Registry,
): (order: LiteralsOrder) => Promise<readonly (LiteralVerdict | LiteralFindings)[]> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    const verdicts = await checkLiterals(agent, order);
    return [...verdicts, ...checkProgramLiterals(agent, order.literals)];
  };
}

/** The local activity `needsApproval`; it is retried when the function throws. */
export function needsApprovalActivity(registry: Registry): (order: ToolOrder) => Promise<boolean> {
  return async (order) => {
    const agent = registry.agents.get(order.agent);
    if (agent === undefined) throw agentMissing(order.agent);
    try {
      return await isApprovalNeeded(agent, order);
    } catch (error) {
      throw toolFailed(redactedErrorText(error));
    }
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
    if (outcome.kind === 'failed') throw invalidInput(outcome.code, outcome.message);
    return outcome.agent;
  };
}

/** The run cannot begin. Not retried, because the input stays the same. */
function invalidInput(
  type: Extract<FailureType, 'agent_not_found' | 'invalid_input'>,
  message: string,
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** A tool threw and has attempts left: retried by the tool's own policy. */
function toolFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'tool_failed', message, nonRetryable: false });
}

/** A validator threw: retried; the last failure ends the run. */
function validatorFailed(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'validator_failed', message, nonRetryable: false });
}

/** This worker does not have the agent of a run. Retried, since another or newer worker may. */
function agentMissing(agent: string): ApplicationFailure {
  const message = `This worker has no agent \`${agent}\`. Start a worker that has it.`;
  return ApplicationFailure.create({ type: 'agent_not_found', message, nonRetryable: false });
}
