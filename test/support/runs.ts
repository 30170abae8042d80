/** Short ways to run a small react agent on the memory host and to look at what it did. */
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolDefinition, ToolContext } from '../../src/define/definition/definitions.ts';
import {
  isOwnEvent,
  type AgentEvent,
  type EventBody,
  type EventType,
  type OwnEventBody,
} from '../../src/core/contract/events.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory, type MemoryRunOptions } from '../../src/testing/run-in-memory.ts';
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../src/testing/scripted-model.ts';

/** When every run of these begins: 2026-03-10T09:00:00Z. */
export const START: number = Date.parse('2026-03-10T09:00:00Z');

/** What a run is made of beside its script; fields of the agent stand under `agent`. */
export interface RunOptions extends Omit<Partial<MemoryRunOptions>, 'agent'> {
  readonly agent?: Partial<AgentOptions>;
}

/** A run and the things that a test moves it with. */
export interface StartedRun {
  readonly run: MemoryRun;
  readonly script: ScriptedModel;
  readonly clock: FakeClock;
}

/** Starts agent `tester` with tool `search` and a model `m` that plays `replies`. */
export function startRun(replies: readonly ScriptedReply[], options: RunOptions = {}): StartedRun {
  const { agent: fields = {}, clock = createFakeClock(START), ...rest } = options;
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    // Free of charge, but with a price, so that limits on cost are allowed.
    model: { id: 'm', model: script.model, price: { input: 0, output: 0 } },
    tools: [searchTool()],
    ...fields,
  });
  return { run: startInMemory({ agent, task: 'Go', clock, ...rest }), script, clock };
}

/** A tool with one text argument, `query`; by default it gives `hits for {query}`. */
export function searchTool(
  execute: (query: string, context: ToolContext) => unknown = (query) => `hits for ${query}`,
  fields: { readonly name?: string; readonly sequential?: boolean } = {},
): ToolDefinition {
  return defineTool({
    name: 'search',
    description: 'Finds pages.',
    parameters: z.object({ query: z.string() }),
    retry: { attempts: 1 },
    execute: ({ query }, context) => execute(query, context),
    ...fields,
  }) as ToolDefinition;
}

/** A tool that pays `amount`, with the effect `once` and the approval of a person. */
export function payTool(
  onPay: (amount: number) => void = () => undefined,
  fields: {
    readonly approval?: (args: { readonly amount: number }) => boolean;
    readonly approvalTimeoutMs?: number;
  } = {},
): ToolDefinition {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    effect: 'once',
    approval: 'always',
    ...fields,
    execute: ({ amount }) => {
      onPay(amount);
      return `paid ${amount}`;
    },
  }) as ToolDefinition;
}

/** A reply that searches for each query, in one batch. */
export function act(...queries: readonly string[]): string {
  return actWith(...queries.map((query): readonly [string, string] => ['search', query]));
}

/** A reply that calls tools: pairs of name and query. */
export function actWith(...calls: readonly (readonly [tool: string, query: string])[]): string {
  const yaml = calls.map(([tool, query]) => `- tool: ${tool}\n  args:\n    query: ${query}`);
  return `<action>\n${yaml.join('\n')}\n</action>`;
}

/** A tool `search` whose results are cached; each call that runs adds its query to `ran`. */
export function cachedSearch(ran: string[]): ToolDefinition {
  return defineTool({
    name: 'search',
    description: 'Finds.',
    parameters: z.object({ query: z.string() }),
    effect: 'read',
    cache: true,
    execute: ({ query }) => {
      ran.push(query);
      return `hits for ${query}`;
    },
  }) as ToolDefinition;
}

/** A reply that answers. */
export function answer(text = 'done'): string {
  return `<answer>${text}</answer>`;
}

/** A reply in which nothing can be read. */
export const GARBAGE = 'no section at all';

/** The types of events, in order, without `agent:` and without changes of history and scratchpad. */
export function typesOf(events: readonly AgentEvent[]): readonly string[] {
  return events
    .filter(({ type }) => !type.startsWith('agent:iteration_history') && !isScratchpad(type))
    .map(({ type }) => type.replace(/^agent:/, ''));
}

function isScratchpad(type: AgentEvent['type']): boolean {
  return type === 'agent:scratchpad:change';
}

/** The events of one type, without the fields that every event has. */
export function bodiesOf<Type extends EventType>(
  events: readonly AgentEvent[],
  type: Type,
): readonly Extract<EventBody, { readonly type: Type }>[] {
  return events.filter((event) => event.type === type).map(bodyOf) as unknown as readonly Extract<
    EventBody,
    { readonly type: Type }
  >[];
}

/** The events of a user's own, without the fields that every event has. */
export function ownEventsOf(events: readonly AgentEvent[]): readonly OwnEventBody[] {
  return events.filter((event) => isOwnEvent(event)).map((event) => bodyOf(event) as OwnEventBody);
}

/** An event without the fields that every event has. */
export function bodyOf(event: AgentEvent): EventBody | OwnEventBody {
  const { seq, runId, agent, agentPath, at, iteration, depth, ...body } = event;
  void [seq, runId, agent, agentPath, at, iteration, depth];
  return body as EventBody | OwnEventBody;
}

/** Whether `seq` begins at 1 and rises by 1. */
export function hasNoGap(events: readonly AgentEvent[]): boolean {
  return events.every(({ seq }, index) => seq === index + 1);
}

/** A promise that is settled by hand, for tools and models that wait for the test. */
export interface Gate<Value = void> {
  readonly opened: Promise<Value>;
  open(value: Value): void;
}

/** A closed gate. */
export function gate<Value = void>(): Gate<Value> {
  let open: (value: Value) => void = () => undefined;
  const opened = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Settles when `signal` aborts. */
export function abortOf(signal: {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
}): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
