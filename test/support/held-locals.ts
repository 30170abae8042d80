/**
 * Workers whose local activities are held while queries come. The service then gives a workflow task
 * queries to answer, and the SDK ends the task of a local activity before the workflow hears of its end:
 * a replay sees that end one task earlier than the first execution did.
 */
import { Context } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';

type Activity = (...args: readonly unknown[]) => Promise<unknown>;

/** Calls `hold` within each local activity of the workers that this process creates from now on. */
export function holdLocals(hold: (workflowId: string, name: string) => Promise<void>): () => void {
  const original = Worker.create.bind(Worker);
  Worker.create = (options) => {
    const activities = Object.entries((options.activities ?? {}) as Record<string, Activity>);
    const held = activities.map(([name, run]): [string, Activity] => [
      name,
      async (...args) => {
        const { isLocal, workflowExecution } = Context.current().info;
        if (isLocal) await hold(workflowExecution?.workflowId ?? '', name);
        return run(...args);
      },
    ]);
    return original({ ...options, activities: Object.fromEntries(held) });
  };
  return () => {
    Worker.create = original;
  };
}
