/** Previews the first request of an agent, without a model, worker or server. */
import { defined } from '../core/base/defined.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import { givenMaterial } from '../core/start/prepare-input.ts';
import type { StartParts } from '../core/start/start-input.ts';
import { EMPTY_DIGEST } from '../core/base/digest.ts';
import type { ModelRequest } from '../core/contract/model.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { withChildren } from './agent-family.ts';
import type { AgentWarning } from './compile-agent.ts';
import type { AgentDefinition } from '../define/definition/definitions.ts';
import type { McpTools } from '../define/mcp/mcp-tools.ts';
import { listedTools } from './listed-tools.ts';
import { loadAgent } from './load-agent.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { infoOf } from '../core/calls/run-info.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { createRegistry } from './registry.ts';

/** The options of {@link previewPrompt}: what a run would be started with. */
export interface PreviewOptions extends Pick<
  StartParts,
  'task' | 'context' | 'memory' | 'history'
> {
  /** Agents that its tools refer to by name. Those given as agent definitions need not be here. */
  readonly agents?: readonly AgentDefinition[];
  /** Entries of models that the agent names by id; a missing one is treated as a function. */
  readonly models?: readonly ModelEntry[];
  /** Milliseconds since 1970, for instructions that name the date. Default: now. */
  readonly at?: number;
  /** Lists the tools of the agent's servers. Default: an agent with servers has no preview. */
  readonly mcp?: McpTools;
}

/** A first request, with the warnings that the run would record. */
export interface PromptPreview {
  readonly request: ModelRequest;
  readonly warnings: readonly AgentWarning[];
}

/**
 * The first request of a run of `agent`; its `runId` is `preview`.
 *
 * @throws UsageError when such a run would end before its first model call, with the reason as
 * code.
 */
export async function previewPrompt(
  agent: AgentDefinition,
  options: PreviewOptions = {},
): Promise<PromptPreview> {
  const { task = '', context, memory, history, models = [], agents = [] } = options;
  const { at = Date.now() } = options;
  const all = [agent, ...agents.filter((other) => other !== agent)];
  const registry = createRegistry({ agents: all, models: withOwn(withChildren(all), models) });
  const input: AgentInput = {
    v: 1,
    agent: agent.name,
    task: typeof task === 'string' ? { text: task } : task,
    ...defined({ context, history, memory }),
  };
  const listing = await listedTools(agent.servers, options.mcp);
  const loaded = loadAgent(registry, input, undefined, listing);
  if (loaded.kind === 'failed') throw new UsageError(loaded.code, loaded.message);
  const { spec, warnings, material, refusal } = loaded.agent;
  if (refusal !== undefined) throw new UsageError(refusal.code, refusal.message);
  const head = { spec, ...(material ?? givenMaterial(input)), ...defined({ history }) };
  const [first] = spec.models;
  if (first === undefined) {
    const [noun, advice] =
      spec.fanOut === undefined
        ? ['pipeline', 'Preview one of its stages.']
        : ['fan-out', `Preview \`${spec.fanOut.agent}\`.`];
    const message = `Expected an agent that asks a model, got the ${noun} \`${spec.name}\`. ${advice}`;
    throw new UsageError('no_model', message);
  }
  const order: ModelOrder = {
    agent: spec.name,
    runId: 'preview',
    agentPath: spec.name,
    model: first.id,
    purpose: 'reply',
    iteration: 1,
    triesBefore: 0,
    lastTurn: spec.limits.some(
      ({ kind, key, max }) => kind === 'exact' && key === '$self:agent:iterations' && max <= 1,
    ),
    time: at,
    ...defined({ structuredOutput: first.structuredOutput }),
    transcript: { epoch: 1, length: 0, digest: EMPTY_DIGEST },
  };
  const view = { head, messages: [] };
  const info = infoOf(order, { run: 'preview', context: head.context });
  const place = { attempt: 1, info };
  return { request: await requestFor(registry, order, view, place), warnings };
}

/** No model is asked, so a model without an entry may be replaced by a function. */
function withOwn(
  agents: readonly AgentDefinition[],
  models: readonly ModelEntry[],
): readonly ModelEntry[] {
  const named = agents.flatMap(({ model, tools }) => [
    ...(typeof model === 'string' ? [model] : []),
    ...tools.flatMap(({ spec }) => spec.agent?.model ?? []),
  ]);
  const inline = agents.flatMap(({ model }) =>
    typeof model === 'string' || model === null ? [] : [model.id],
  );
  const known = [...models.map(({ id }) => id), ...inline];
  const missing = [...new Set(named)].filter((id) => !known.includes(id));
  return [...models, ...missing.map((id) => ({ id, model: () => Promise.resolve('') }))];
}
