import { Context } from '@temporalio/activity';
import type { ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import { unreachable } from '../core/base/unreachable.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { workerShutdown } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';
import { runTool } from '../tools/run-tool.ts';
import { isStoppedByService } from './stop-reason.ts';
import { agentMissing, toolFailed } from './tool-failures.ts';

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
