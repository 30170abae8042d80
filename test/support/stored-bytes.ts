/** What the service has of the runs of a task queue: its raw answers, as messages and as bytes. */
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';

const v1 = proto.temporal.api.workflowservice.v1;

/** The answers of the service. */
export interface StoredRuns {
  readonly bytes: Uint8Array;
  /** The same as plain objects. */
  readonly messages: readonly object[];
}

/** The list, descriptions and histories of all executions of a task queue, its links too. */
export async function storedRuns(
  { workflowService }: ConnectionLike,
  namespace: string,
  taskQueue: string,
): Promise<StoredRuns> {
  const query = `TaskQueue = '${taskQueue}'`;
  const list = await workflowService.listWorkflowExecutions({ namespace, query });
  const bytes: Uint8Array[] = [v1.ListWorkflowExecutionsResponse.encode(list).finish()];
  const messages: object[] = [v1.ListWorkflowExecutionsResponse.toObject(list as never)];
  for (const { execution } of list.executions) {
    const place = { namespace, execution: execution ?? null };
    const described = await workflowService.describeWorkflowExecution(place);
    bytes.push(v1.DescribeWorkflowExecutionResponse.encode(described).finish());
    messages.push(v1.DescribeWorkflowExecutionResponse.toObject(described as never));
    const history = await workflowService.getWorkflowExecutionHistory(place);
    bytes.push(v1.GetWorkflowExecutionHistoryResponse.encode(history).finish());
    messages.push(v1.GetWorkflowExecutionHistoryResponse.toObject(history as never));
  }
  return { bytes: Buffer.concat(bytes), messages };
}
