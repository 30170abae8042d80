/** The examples of docs/mcp.md; test/docs/mcp.test.ts runs them. */
import {
  mcpServer,
  type AgentDefinition,
  type McpServerDefinition,
  type RunHandle,
  type Step,
} from '../../src/index.ts';
import { listServers, startInMemory } from '../../src/testing.ts';

/** A server over HTTP, with a token, some of its tools, and approvals. */
export function githubServer(): McpServerDefinition {
  // #region github
  const github = mcpServer({
    name: 'github',
    url: 'https://api.example.com/mcp',
    auth: { bearer: { env: 'GITHUB_TOKEN' } },
    tools: { allow: ['list_*', 'create_issue'] },
    approval: 'destructive',
  });
  // #endregion
  return github;
}

/** Answers the question of a server. */
export async function answerServer(run: Pick<RunHandle, 'pending' | 'answer'>): Promise<void> {
  // #region answering
  const [item] = await run.pending();
  if (item !== undefined) await run.answer(item.id, { env: 'staging' });
  // #endregion
}

/** A run in memory of an agent with servers. */
export async function runServed(clerk: AgentDefinition): Promise<Step> {
  // #region inMemory
  const mcp = await listServers([clerk]);
  const step = await startInMemory({ agent: clerk, task: 'Go', mcp }).result;
  await mcp.tools.close();
  // #endregion
  return step;
}
