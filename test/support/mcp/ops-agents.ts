/** An agent whose server asks within a call; the same in the test's process and in one that is killed. */
import { readFile } from 'node:fs/promises';
import { textOf } from '../../../src/core/base/message.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import type { McpServerDefinition } from '../../../src/define/definition/mcp-server.ts';
import { mcpServer } from '../../../src/define/mcp/mcp-server.ts';
import { actWith, answer } from '../runs.ts';

/** How the agent's server differs. */
export interface OpsOptions {
  /** The file `ops-server.mjs` beside this one. */
  readonly server: string;
  /** The file in which the server notes what it does. */
  readonly notes: string;
  /** Which release of the server runs; another one has another list. */
  readonly release: '1' | '2';
  /** The tool that the agent calls. Default: the one that asks. */
  readonly tool?: 'deploy' | 'hang';
  /** Name of agent and server. Default `ops`. */
  readonly name?: string;
  /** What it is called with. Default `app`; for `both` the server asks two questions. */
  readonly query?: string;
  /** How long a question waits. Default: for ever. */
  readonly deadlineMs?: number;
}

/** The server of the agents here. */
export function opsServer({
  server,
  notes,
  release,
  name = 'ops',
  deadlineMs,
}: OpsOptions): McpServerDefinition {
  return mcpServer({
    name,
    command: process.execPath,
    args: [server],
    env: { OPS_NOTES: notes, OPS_RELEASE: release },
    tools: { allow: ['*'] },
    ...(deadlineMs && { overrides: { deploy: { approvalTimeoutMs: deadlineMs } } }),
  });
}

/** `ops` calls its server once and answers with the last thing that it read. */
export function opsAgent(
  options: OpsOptions,
  server: McpServerDefinition = opsServer(options),
): AgentDefinition {
  const { tool = 'deploy', name = 'ops', query = 'app' } = options;
  return defineAgent({
    name,
    mode: 'react',
    model: {
      id: name,
      model: async ({ iteration, messages }) => {
        if (iteration === 1) return actWith([`${name}_${tool}`, query]);
        const read = messages.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
        const hasNew = messages.some((message) => textOf(message).includes(`${name}_extra`));
        return answer(`${read.replaceAll(/<[^>]*>/g, '').trim()}${hasNew ? ' and more' : ''}`);
      },
    },
    tools: [server],
  });
}

/** `planner` deploys two releases side by side in a program. */
export function plannerAgent(server: McpServerDefinition): AgentDefinition {
  const source = '(return (pmap (fn [q] (tool/ops_deploy {:query q})) ["x" "y"]))';
  return defineAgent({
    name: 'planner',
    mode: 'lisp',
    model: { id: 'planner', model: async () => `\`\`\`clojure\n${source}\n\`\`\`` },
    tools: [server],
  });
}

/** What the server has noted: in which process it did what. */
export async function opsNotes(
  file: string,
): Promise<readonly { readonly pid: number; readonly did: string }[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly pid: number; readonly did: string });
}
