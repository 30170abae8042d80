/** Agents whose runs tests trace; the same in the test's process and in those that are killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { asker, worker } from './tree-agents.ts';

/** The path that the tool of `leaf` asks a server for. */
export const ASKED_PATH = '/pages';

/** `desk` asks `leaf` three times at once; each leaf asks `server` once for pages, and answers. */
export function tracedAgents(server: string, toolMs: number): readonly AgentDefinition[] {
  const search = defineTool({
    name: 'search',
    description: 'Finds pages.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    execute: async () => {
      const response = await fetch(`${server}${ASKED_PATH}`);
      await sleep(toolMs);
      return response.text();
    },
  }) as ToolDefinition;
  return [asker(worker(1, 'leaf', search), 3, 'desk')];
}
