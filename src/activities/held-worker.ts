/**
 * A tool that blocks JavaScript holds its worker: no heartbeat is sent, and the service takes the
 * worker for lost. Each further attempt would end in the same way. So the worker tells the run,
 * which gives the next attempt a longer heartbeat.
 */
import { Context } from '@temporalio/activity';
import { errorText } from '../core/base/error-text.ts';
import type { HeartbeatDetails } from './activity-types.ts';
import { MESSAGE_NAMES, type HeldWorker } from '../core/contract/messages.ts';

/**
 * Asks the service whether it gave up the current activity, whose heartbeat is `lateMs` late; if
 * so, tells the run that call `callId` held its worker. Never rejects.
 */
export async function tellHeld(
  callId: string,
  details: HeartbeatDetails,
  lateMs: number,
): Promise<boolean> {
  const { client, info, log } = Context.current();
  const { workflowId, runId } = info.workflowExecution ?? {};
  if (workflowId === undefined) return false;
  try {
    await client.activity.heartbeat(info.taskToken, details);
    return false;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ActivityNotFoundError') return false;
  }
  const held: HeldWorker = { callId, heldMs: Math.ceil(lateMs) };
  try {
    await client.workflow.getHandle(workflowId, runId).signal(MESSAGE_NAMES.heldWorker, held);
  } catch (error) {
    log.warn(`The run could not be told that a call held its worker: ${errorText(error)}`);
  }
  return true;
}

/**
 * For the log. `isOwn`: this tool held the worker; else some code did while the tool waited for
 * something.
 */
export function heldText(
  tool: string,
  { lateMs, isOwn }: { readonly lateMs: number; readonly isOwn: boolean },
): string {
  const time = `${Math.round(lateMs / 1_000)} s`;
  const what = isOwn
    ? `tool ${tool} held the worker for ${time}`
    : `the worker was held for ${time} while tool ${tool} ran`;
  return `${what}; no call of this worker could send a heartbeat, so the service gave them up. Those that may be repeated are tried again. Give a tool that blocks \`isolate\`.`;
}
