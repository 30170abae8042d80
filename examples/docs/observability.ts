/** The example of docs/observability.md; test/docs/observability.test.ts runs it. */
import { startInMemory, type MemoryRun, type MemoryRunOptions } from '../../src/testing.ts';

/** A run that traces name a user and a chat of. */
export async function runOf(
  options: Pick<MemoryRunOptions, 'agent' | 'onEvent'>,
): Promise<MemoryRun> {
  const everloop = {
    start: async (_agent: string, input: Pick<MemoryRunOptions, 'task' | 'trace'>) =>
      startInMemory({ ...options, ...input }),
  };
  // #region user
  const run = await everloop.start('clerk', {
    task: 'Where is my order?',
    trace: {
      attributes: {
        'user.id': 'u7', // Langfuse
        'langsmith.metadata.user_id': 'u7', // LangSmith
        'langsmith.metadata.thread_id': 'chat-7',
      },
    },
  });
  // #endregion
  return run;
}
