/**
 * What a console knows of agents: the definitions that it was given, or else what workers say of
 * theirs.
 */
import { previewPrompt } from '../registry/preview-prompt.ts';
import { describeAgent } from '../registry/describe-agents.ts';
import type { AgentDefinition } from '../define/definition/definitions.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import type { AgentsView, AgentVersion } from '../client/agents.ts';
import { defined } from '../core/base/defined.ts';
import type {
  AgentDescription,
  AgentToolDescription,
} from '../core/streaming/agent-description.ts';
import type { ModelTool } from '../core/contract/model.ts';
import type {
  AgentCard,
  AgentsAnswer,
  MissingPart,
  PreviewAnswer,
  PreviewRequest,
  ToolCard,
} from './api.ts';
import { apiErrorOf, ConsoleRefusal } from './refusal.ts';

/** Definitions that a console shows and tries. */
export interface ConsoleAgents {
  readonly agents: readonly AgentDefinition[];
  /** Entries of models that agents name by id. Default: none. */
  readonly models?: readonly ModelEntry[];
}

/** The agents of a console. */
export interface AgentBook {
  /** Whether the console was given definitions, which previews need. */
  readonly hasDefinitions: boolean;
  /** All agents by name, and why there may be more. */
  readonly list: () => Promise<AgentsAnswer>;
  /** @throws ConsoleRefusal `not_found` for an agent that the console does not know. */
  readonly card: (name: string) => Promise<AgentCard>;
  /**
   * The first request that a run of the agent would send.
   *
   * @throws ConsoleRefusal `not_recorded` without definitions; else as `previewPrompt`.
   */
  readonly preview: (name: string, given: PreviewRequest) => Promise<PreviewAnswer>;
}

/** What {@link createAgentBook} takes. */
export interface AgentBookParts {
  /** Undefined: the workers are asked. */
  readonly given: ConsoleAgents | undefined;
  /** Asks the workers; within bounded time. */
  readonly served: () => Promise<AgentsView>;
  /** The task queue on which the console starts runs; undefined: not said. */
  readonly taskQueue: string | undefined;
}

/** The book of `given`, or of what workers serve. */
export function createAgentBook({ given, served, taskQueue }: AgentBookParts): AgentBook {
  const list =
    given === undefined ? () => listServed(served, taskQueue) : async () => listGiven(given);
  const { agents = [], models = [] } = given ?? {};
  return {
    hasDefinitions: given !== undefined,
    list,
    card: async (name) => {
      const { agents: cards, partial = [] } = await list();
      const found = cards.find((card) => card.name === name);
      if (found !== undefined) return found;
      const why = partial.map(({ message }) => message);
      const advice =
        given === undefined ? why : ['Start the console with the agent file that has it.'];
      const message = `Expected an agent that this console knows, got \`${name.slice(0, 80)}\`.`;
      throw new ConsoleRefusal('not_found', [message, ...advice].join(' '));
    },
    preview: async (name, { task, context }) => {
      if (given === undefined) throw new ConsoleRefusal('not_recorded', NO_PREVIEW);
      const agent = agents.find((one) => one.name === name);
      if (agent === undefined) {
        const message = `Expected an agent of this console, got \`${name.slice(0, 80)}\`. Start the console with the agent file that has it.`;
        throw new ConsoleRefusal('not_found', message);
      }
      const options = { agents, models, ...defined({ task, context }) };
      const { request } = await previewPrompt(agent, options);
      const { messages, tools: shown = [] } = request;
      return { messages, tools: shown.map(toolOfRequest) };
    },
  };
}

const NO_PREVIEW =
  'The first request is made from the definitions of an agent, which this console does not have. Start it with `--agents FILE`, or use that of `everloop dev`.';

function listGiven({ agents, models = [] }: ConsoleAgents): AgentsAnswer {
  const entries = new Map(models.map((entry) => [entry.id, entry]));
  const cards = agents.map((agent) => ({
    ...cardOf(describeAgent(agent, entries, false)),
    hasPreview: true,
  }));
  return { agents: cards.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

async function listServed(
  served: AgentBookParts['served'],
  taskQueue: string | undefined,
): Promise<AgentsAnswer> {
  try {
    const { agents, silent, more } = await served();
    const names = [...new Set(agents.map(({ name }) => name))];
    const cards = names.map((name) => {
      return servedCard(
        agents.filter((agent) => agent.name === name),
        taskQueue,
      );
    });
    const partial = missingOf({ agents, silent, more });
    return { agents: cards, ...defined({ partial: partial.length === 0 ? undefined : partial }) };
  } catch (error) {
    const { code, message, isBug = false } = apiErrorOf(error);
    if (isBug) throw error;
    return { agents: [], partial: [{ part: 'agents', code, message }] };
  }
}

/** One card for all versions of an agent: that of most workers on the queue of this console. */
function servedCard(versions: readonly AgentVersion[], taskQueue: string | undefined): AgentCard {
  const here = versions.filter((agent) => taskQueue === undefined || agent.taskQueue === taskQueue);
  const [first] = here.length > 0 ? here : versions;
  const { taskQueue: queue, workers, ...agent } = first as AgentVersion;
  return {
    ...cardOf(agent),
    hasPreview: false,
    workers: workers.length,
    ...defined({
      versions: here.length > 1 ? here.length : undefined,
      elsewhere: here.length === 0 ? queue : undefined,
    }),
  };
}

function missingOf({ agents, silent, more }: AgentsView): readonly MissingPart[] {
  const messages = [
    ...(agents.length === 0 && silent.length === 0 ? [NO_WORKERS] : []),
    ...(silent.length === 0 ? [] : [`${silent.length} of the workers did not say their agents.`]),
    ...(more === 0 ? [] : [`Workers left out ${more} agents, because their lists are too long.`]),
  ];
  return messages.map((message) => ({ part: 'agents', code: 'not_recorded', message }));
}

const NO_WORKERS =
  'No worker has said which agents it serves. Workers say it to consoles on their machine with the same data folder, and at the addresses of `EVERLOOP_STREAM_URL`. Or start the console with `--agents FILE`.';

function cardOf(agent: AgentDescription): Omit<AgentCard, 'hasPreview'> {
  return { ...agent, tools: agent.tools.map(toolCard) };
}

/** A tool as a request declares it. */
export function toolOfRequest({ name, description, parameters }: ModelTool): ToolCard {
  return { name, description, ...defined({ schema: parameters ?? undefined }) };
}

function toolCard({ approval, schema, ...tool }: AgentToolDescription): ToolCard {
  return { ...tool, approval: approval !== undefined, ...defined({ schema: schema ?? undefined }) };
}
