import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
export async function loadWorkflowBundle(_: { cacheDir: string }): Promise<WorkflowBundle> {
  return bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) });
}
