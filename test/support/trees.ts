/** Agents that call agents, for tests of trees. */
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import type { Numbers, Stats } from '../../src/core/contract/stats.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';

/** Tokens of each call of these models. */
export const TOKENS = { inputTokens: 90, outputTokens: 10 } as const;

/** Counters that a kill may change: how often calls were tried, and what was lost by estimate. */
export const OF_ATTEMPTS: RegExp = /model_call_retries|lost_attempts|estimated_/;

/** What a model of a tree does in its iteration. */
export type Play = (
  request: ModelRequest,
  io: Parameters<ModelFunction>[1],
) => string | Promise<string>;

/** An agent in mode `react` with a priced model of its own that plays `play`. */
export function player(
  name: string,
  play: Play,
  options: Partial<AgentOptions> & { readonly children?: readonly AgentDefinition[] } = {},
): AgentDefinition {
  const { children = [], ...rest } = options;
  return defineAgent({
    name,
    mode: 'react',
    model: {
      id: `${name}/m`,
      price: { input: 1, output: 1 },
      model: async (request, io) => ({ content: await play(request, io), usage: TOKENS }),
    },
    tools: children.map((agent) => agentTool({ agent })),
    ...rest,
  });
}

/** A reply that calls agents: pairs of tool and task. */
export function delegate(...calls: readonly (readonly [tool: string, task: string])[]): string {
  const yaml = calls.map(([tool, task]) => `- tool: ${tool}\n  args:\n    task: ${task}`);
  return `<action>\n${yaml.join('\n')}\n</action>`;
}

/** The task of a request. */
export function taskOf({ messages }: ModelRequest): string {
  const text = messages.map(textOf).join('\n');
  return /<task>\n?([^]*?)\n?<\/task>/.exec(text)?.[1] ?? '';
}

/** What the model last read of its calls. */
export function observed({ messages }: ModelRequest): string {
  const found = messages.map(textOf).findLast((text) => text.includes('<observation>')) ?? '';
  return found.replaceAll(/<\/?observation>/g, '').trim();
}

/** All runs of a tree, its root first. */
export function runsOf(root: MemoryRun): readonly MemoryRun[] {
  return [root, ...root.children.flatMap(runsOf)];
}

/** A run on a server that has ended. */
export interface EndedRun {
  readonly run: RunHandle;
  readonly step: Step;
}

/**
 * The runs of a tree that ended with a Step, once its root has: that one first, children by their ids.
 * A child that was lost has no Step, and nothing below it is asked.
 */
export async function endedRuns(everloop: Everloop, root: RunHandle): Promise<readonly EndedRun[]> {
  const step = await root.result();
  const below = await Promise.all(
    step.children
      .map(({ childId }) => childId)
      .toSorted()
      .map((childId) =>
        endedRuns(everloop, everloop.attach(childId)).catch((error: unknown) => {
          if (isUsageError(error) && error.code === 'no_step') return [];
          throw error;
        }),
      ),
  );
  return [{ run: root, step }, ...below.flat()];
}

/** What all runs have spent by themselves, by key: what the counters of the root must be. */
export function ownSums(all: readonly Stats[]): Numbers {
  const sums: Record<string, number> = {};
  for (const { counters } of all) {
    for (const [key, value] of Object.entries(counters)) {
      if (!key.startsWith('$self:') || value === 0) continue;
      const base = key.slice('$self:'.length);
      sums[base] = (sums[base] ?? 0) + value;
    }
  }
  return sums;
}

/** The counters of a tree at its root, without those that are 0. */
export function treeCounters({ counters }: Stats): Numbers {
  return Object.fromEntries(
    Object.entries(counters).filter(([key, value]) => !key.startsWith('$self:') && value !== 0),
  );
}
