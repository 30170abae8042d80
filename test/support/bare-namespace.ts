/** A stage in a namespace of its own that has no search attributes. */
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { eventually } from './eventually.ts';
import { openStage, type Stage } from './stage.ts';

/** Opens it on the server at `address`. */
export async function openBareStage(address: string): Promise<Stage> {
  const namespace = `bare-${randomUUID().slice(0, 8)}`;
  const connection = await Connection.connect({ address });
  const { workflowService } = connection;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  // A server reads its namespaces again every few seconds.
  await eventually('the namespace', () =>
    workflowService.listWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  await connection.close();
  return openStage({ address, namespace });
}
