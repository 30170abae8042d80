/** Reads what a run was started with from its history, which needs no worker. */
import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { defined } from '../core/base/defined.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { isPlainObject } from '../core/base/json.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { notAnAgent } from './service-calls.ts';

/** What a run was started with. */
export type RunStart = Pick<AgentInput, 'agent' | 'task' | 'context' | 'history'>;

/** The start of run `id`. If the service dropped the first link, a later link has the same data. */
export async function readStartedWith(client: Client, id: string): Promise<RunStart> {
  const { runId } = await client.workflow.getHandle(id).describe();
  const { payload, firstRunId } = await readFirstEvent(client, id, runId);
  if (firstRunId === runId) return startOf(id, payload);
  const first = await readFirstEvent(client, id, firstRunId).catch(() => null);
  return startOf(id, first === null ? payload : first.payload);
}

async function readFirstEvent(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<{ readonly payload: unknown; readonly firstRunId: string }> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await client.connection.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started?.workflowType?.name !== AGENT_WORKFLOW) throw notAnAgent(workflowId);
  const [payload] = await decodeArrayFromPayloads(loadedDataConverter, started.input?.payloads);
  return { payload, firstRunId: started.firstExecutionRunId ?? runId };
}

function startOf(id: string, payload: unknown): RunStart {
  if (!isPlainObject(payload)) throw notAnAgent(id);
  if (payload['kind'] !== 'handover') return payload as unknown as AgentInput;
  const { head } = payload['state'] as { readonly head: TranscriptHead };
  const { spec, task, context, history } = head;
  return defined({ agent: spec.name, task, context, history });
}
