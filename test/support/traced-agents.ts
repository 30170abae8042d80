/** Agents whose runs tests trace; the same in the test's process and in those that are killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { asker, worker } from './tree-agents.ts';

/** The span that the tool's own client makes, as an instrumented library does. */
export const CLIENT_SPAN = 'GET example.com';

/** `desk` asks `leaf` three times at once; each leaf searches once, and answers. */
export function tracedAgents(toolMs: number): readonly AgentDefinition[] {
  const search = defineTool({
    name: 'search',
    description: 'Finds pages.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    execute: async () => {
      const span = trace.getTracer('http client').startSpan(CLIENT_SPAN);
      await sleep(toolMs);
      span.end();
      return 'hits';
    },
  }) as ToolDefinition;
  return [asker(worker(1, 'leaf', search), 3, 'desk')];
}
