/** An agent whose server asks within a call; the same in the test's process and in one that is killed. */
import { readFile } from 'node:fs/promises';
import { textOf } from '../../../src/core/base/message.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
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
}

/** `ops` calls its server once and answers with the last thing that it read. */
export function opsAgent({
  server: file,
  notes,
  release,
  tool = 'deploy',
}: OpsOptions): AgentDefinition {
  const server = mcpServer({
    name: 'ops',
    command: process.execPath,
    args: [file],
    env: { OPS_NOTES: notes, OPS_RELEASE: release },
    tools: { allow: ['*'] },
  });
  return defineAgent({
    name: 'ops',
    mode: 'react',
    model: {
      id: 'm',
      model: async ({ iteration, messages }) => {
        if (iteration === 1) return actWith([`ops_${tool}`, 'app']);
        const read = messages.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
        const hasNew = messages.some((message) => textOf(message).includes('ops_extra'));
        return answer(`${read.replaceAll(/<[^>]*>/g, '').trim()}${hasNew ? ' and more' : ''}`);
      },
    },
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
