/** Whether a call of a server's tool needs a person, when the server does not have the tool now. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { needsApprovalActivity } from '../../src/activities/tool-activities.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import type { McpTools } from '../../src/define/mcp/mcp-tools.ts';
import { createRegistry } from '../../src/registry/registry.ts';

it('needs one: the server may have the tool again by the call', async () => {
  const github = mcpServer({ name: 'github', url: 'https://api.example.com/mcp' });
  const model = { id: 'm', model: async () => '' };
  const agent = defineAgent({ name: 'clerk', model, tools: [github] });
  const mcp: McpTools = {
    list: async () => ({ kind: 'listed', tools: [], warnings: [] }),
    bind: async () => ({ kind: 'rejected', message: 'Error: it has no such tool any more.' }),
    close: async () => undefined,
  };
  const needsApproval = needsApprovalActivity(createRegistry({ agents: [agent] }), mcp);
  const order = {
    agent: 'clerk',
    runId: 'run',
    agentPath: 'clerk',
    callId: '1.1',
    tool: 'github_pay',
    args: {},
    mcp: { server: 'github', tool: 'pay', hash: '0' },
  };

  expect(await new MockActivityEnvironment().run(needsApproval, order)).toBe(true);
});
