/**
 * The entry of the test kit: runs an agent in this process, with a scripted model and a fake clock.
 */
import type { ContextOf, ContextOption, ValueOf } from '../core/start/agent-types.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import type { AgentDefinition } from '../define/definition/definitions.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { createRegistry } from '../registry/registry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { RunState } from '../core/run/run-state.ts';
import { startInput, type StartParts } from '../core/start/start-input.ts';
import { requireKnown } from '../core/text/option-names.ts';
import type { Next } from '../core/loop/work.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { ListedServers } from './listed-servers.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import type { HandoverPlace, MemoryRun, TreeMessage } from './memory-run.ts';
import { startMemoryRun } from './start-memory-run.ts';

/** What a run in memory is started with. It calls nobody back: its `onEvent` is a listener. */
export interface MemoryRunOptions<Agent extends AgentDefinition = AgentDefinition> extends Omit<
  StartParts,
  'onEvent'
> {
  readonly agent: Agent;
  /** Further agents, for those that call them by name; those in its tools need not be here. */
  readonly agents?: readonly AgentDefinition[];
  /** Entries that the agent names by id; an entry in an agent definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /** Default: a clock that stands at 2026-03-10T09:00:00Z. */
  readonly clock?: FakeClock;
  /** A loop of your own. Default: that of the agent's mode. */
  readonly next?: Next;
  /**
   * Whether to hand over, through JSON, at this place: at an iteration boundary, or while the run
   * waits only for people. At most once at each.
   */
  readonly handoverDue?: (iteration: number, place: HandoverPlace) => boolean;
  /** The same for the runs below, by their addresses. Default: they never hand over. */
  readonly childHandoverDue?: (address: string, iteration: number, place: HandoverPlace) => boolean;
  /** Whether a hand-over could carry the state; one that it could not is compacted first. */
  readonly fitsHandover?: (state: RunState) => boolean;
  /** True: the limits of sizes are those of a worker with a blob store. Default false. */
  readonly blobs?: boolean;
  /** The servers of the agents, as `listServers` returns them. Default: none. */
  readonly mcp?: ListedServers;
  /** Whether a link has no room left: a program that cannot be handed over ends. Default: never. */
  readonly isFull?: () => boolean;
  /** Called with each event of the run and its descendants; may send, cancel or adjust. */
  readonly onEvent?: (event: AgentEvent, run: MemoryRun) => void;
  /**
   * Carries messages between runs: one arrives when `deliver` is called, now, later, twice or
   * never. Default: at once.
   */
  readonly carry?: (message: TreeMessage, deliver: () => void) => void;
  /** Receives provisional text; by default, it is dropped. */
  readonly chunks?: ChunkPublisher;
}

const OPTIONS: { readonly [Name in keyof MemoryRunOptions]-?: true } = {
  tenant: true,
  task: true,
  context: true,
  history: true,
  conversation: true,
  messageId: true,
  by: true,
  trace: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
  memory: true,
  compiled: true,
  compiles: true,
  agent: true,
  agents: true,
  models: true,
  clock: true,
  next: true,
  handoverDue: true,
  childHandoverDue: true,
  fitsHandover: true,
  blobs: true,
  mcp: true,
  isFull: true,
  onEvent: true,
  carry: true,
  chunks: true,
};

/**
 * Starts `agent` in this process. Throws a UsageError for what a worker or a start would refuse.
 *
 * @example
 * const script = scriptedModel(['42']);
 * const agent = defineAgent({ name: 'oracle', model: script.model });
 * const step = await startInMemory({ agent, task: 'What is it?' }).result;
 */
export function startInMemory<Agent extends AgentDefinition>(
  options: Omit<MemoryRunOptions<Agent>, 'context'> & ContextOption<ContextOf<Agent>>,
): MemoryRun<ValueOf<Agent>> {
  requireKnown(options, OPTIONS, '`startInMemory`');
  const { onEvent, ...given } = options as unknown as MemoryRunOptions;
  const { agent, agents = [], models = [], clock = createFakeClock(), carry } = given;
  const registry = createRegistry({ agents: [agent, ...agents], models });
  const sizes = sizesOf(given);
  const input = startInput(agent.name, given, sizes);
  const run: MemoryRun = startMemoryRun(
    {
      registry,
      clock,
      sizes,
      chunks: options.chunks ?? { publish: () => undefined },
      onEvent: onEvent ?? (() => undefined),
      carry: carry ?? ((_message, deliver) => deliver()),
      childHandoverDue: options.childHandoverDue ?? (() => false),
      mcp: options.mcp,
    },
    {
      input,
      address: 'run-1',
      next: options.next,
      handoverDue: options.handoverDue,
      isFull: options.isFull,
      fitsHandover: options.fitsHandover,
    },
  );
  return run as MemoryRun<ValueOf<Agent>>;
}
