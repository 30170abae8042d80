/** Agents of trees that tests of a server run, also in a process of their own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { act, answer, searchTool } from './runs.ts';
import { delegate, observed, player, taskOf } from './trees.ts';

/** A run that searches in so many iterations, then answers. */
export function worker(
  iterations: number,
  name = 'worker',
  tool: ToolDefinition = searchTool(),
): AgentDefinition {
  return player(
    name,
    ({ iteration }) => (iteration <= iterations ? act(`step ${iteration}`) : answer('done')),
    { tools: [tool] },
  );
}

/** A run that calls `child` so many times at once, then answers with what it read. */
export function asker(child: AgentDefinition, count = 1, name = 'asker'): AgentDefinition {
  const calls = Array.from({ length: count }, (_, index) => [child.name, `${index}`] as const);
  return player(
    name,
    (request) => (request.iteration === 1 ? delegate(...calls) : answer(observed(request))),
    { children: [child] },
  );
}

/** A tool that takes its time and gives way when it is stopped. */
function slowSearch(ms: number): ToolDefinition {
  return defineTool({
    name: 'search',
    description: 'Finds pages.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    execute: async (_args, { signal }) => {
      await sleep(ms, undefined, { signal });
      return 'hits';
    },
  }) as ToolDefinition;
}

/** A tree of 40 runs in three levels: leaves of one, two and three iterations with a tool call in each. */
export function fortyRuns(toolMs: number): AgentDefinition {
  const leaf = player(
    'leaf',
    (request) =>
      request.iteration <= 1 + (Number(taskOf(request)) % 3)
        ? act(`step ${request.iteration}`)
        : answer('done'),
    { tools: [slowSearch(toolMs)] },
  );
  return asker(asker(leaf, 12, 'middle'), 3, 'top');
}

/** Three levels with `width` runs below each: each leaf works through `iterations`. */
export function threeLevels(width: number, iterations: number, toolMs: number): AgentDefinition {
  const leaf = worker(iterations, 'leaf', slowSearch(toolMs));
  return asker(asker(leaf, width, 'middle'), width, 'top');
}
