/**
 * What the scenarios share: services that take their time, tools that look up, tools that act once,
 * and an agent for each variant of a scenario.
 */
import type { AgentOptions } from '../src/define/agent/agent-options.ts';
import { counter, gauge, slidingWindow, summarize } from '../src/define/agent/define-compaction.ts';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import type { AgentDefinition, ToolContext } from '../src/define/definition/definitions.ts';
import { changesOf, fileLog, memoryLog, type EffectLog } from './effect-log.ts';
import { serviceTime } from './latency.ts';
import { SCENARIO_RULES } from './rules.ts';
import type { ScriptVariant } from './script.ts';

/** The state of a scenario, and the log of what changed it. */
export interface ScenarioStore<State, Change> {
  readonly log: EffectLog<Change>;
  state(): State;
}

/** A fresh state in memory; or, with the path of a file, one that outlives its process. */
export function scenarioStore<State, Change>(
  seed: State,
  apply: (state: State, change: Change) => State,
  path?: string,
): ScenarioStore<State, Change> {
  const log = path === undefined ? memoryLog<Change>() : fileLog<Change>(path);
  return { log, state: () => changesOf(log).reduce(apply, seed) };
}

/** Options of a scenario's tools. */
export interface ScenarioToolOptions<State, Change> {
  readonly store: ScenarioStore<State, Change>;
  /** How long each tool takes, in ms; default 0. */
  readonly latencyMs?: number;
}

/** What a tool did, and what it tells the model. */
export interface Action<Change> {
  readonly change: Change;
  readonly result: object;
}

/** How the tools of a scenario reach its state. */
export interface Service<State, Change> {
  /** Waits like a service, then reads the state as it is by then. */
  readonly lookUp: <Result>(signal: AbortSignal, read: (state: State) => Result) => Promise<Result>;
  /** Takes half of its time before it acts and half after; both moments are in the log. */
  readonly act: (
    tool: string,
    context: ToolContext,
    decide: (state: State) => Action<Change>,
  ) => Promise<object>;
}

/** The service behind a scenario's tools. */
export function scenarioService<State, Change>({
  store,
  latencyMs = 0,
}: ScenarioToolOptions<State, Change>): Service<State, Change> {
  return {
    lookUp: async (signal, read) => {
      await serviceTime(latencyMs, signal);
      return read(store.state());
    },
    act: async (tool, { idempotencyKey: key, signal }, decide) => {
      store.log.append({ key, tool, step: 'begun' });
      await serviceTime(latencyMs / 2, signal);
      const { change, result } = decide(store.state());
      store.log.append({ key, tool, step: 'done', change });
      await serviceTime(latencyMs / 2, signal);
      return result;
    },
  };
}

/** What a scenario's agent is made of. */
export interface ScenarioAgentOptions extends Pick<
  AgentOptions,
  'name' | 'description' | 'model' | 'instructions' | 'tools' | 'askUser'
> {
  readonly variant: ScriptVariant;
  /** The most iterations; searching gets five more, for turns of its own. */
  readonly iterations: number;
  /** The tool that stays in the prompt when the others have to be searched. */
  readonly pin: string;
}

/** The agent of a scenario in one variant. */
export function scenarioAgent(options: ScenarioAgentOptions): AgentDefinition {
  const { variant, iterations, pin, ...rest } = options;
  return defineAgent({
    ...rest,
    rules: SCENARIO_RULES,
    mode: modeOf(variant),
    limits: { iterations: variant === 'search' ? iterations + 5 : iterations },
    ...optionsOf(variant, pin, iterations),
  });
}

function modeOf(variant: ScriptVariant): 'react' | 'chat' | 'lisp' {
  if (variant === 'lisp') return 'lisp';
  return variant === 'chat' ? 'chat' : 'react';
}

/** How many entries a sliding window keeps, and after how many iterations a summary is due. */
const KEPT = 5;

function optionsOf(variant: ScriptVariant, pin: string, maxTurns: number): Partial<AgentOptions> {
  switch (variant) {
    case 'yaml':
    case 'chat':
      return {};
    case 'json':
      return { toolchain: 'json' };
    case 'lisp':
      return { maxTurns };
    case 'program':
      return { programs: true };
    case 'search':
      return { toolSearch: { pins: [pin] } };
    case 'window':
      return {
        compaction: {
          triggers: [gauge('agent:scratchpad_length', KEPT + 1)],
          strategies: [slidingWindow(KEPT)],
        },
      };
    case 'summary':
      return {
        compaction: {
          triggers: [counter('agent:iterations', KEPT)],
          strategies: [summarize({ keepRecent: 1 })],
        },
      };
  }
}
