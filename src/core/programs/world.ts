/**
 * What a program starts with: the tools, the data, the limits and the budget that its run gives it.
 * Pure.
 */
import { defined } from '../base/defined.ts';
import { LIMIT_RANGES, type ToolFace, type World } from '../../lisp.ts';
import type { JsonObject } from '../base/json.ts';
import { covers } from '../limits/breach.ts';
import { self } from '../stats/stat-keys.ts';
import { valueOf } from '../contract/stats.ts';
import { boundsOf, restOf } from '../tree/ledger.ts';
import { ASK_TOOL, askProgramSchema } from '../toolchain/ask-user.ts';
import { ledgerOf } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';
import type { AgentSpec, ProgramSpec, ToolSpec } from '../contract/spec.ts';

/** The defaults of an agent whose specification has no programs, for custom loops. */
export const DEFAULT_PROGRAM: ProgramSpec = {
  limits: {},
  memoryLimitBytes: 1_048_576,
  memoryStrategy: 'strict',
  sizes: { feedbackChars: 512, resultChars: 250, sampleItems: 3, sampleChars: 80 },
};

/** How the agent runs programs. */
export function programSpecOf({ program = DEFAULT_PROGRAM }: AgentSpec): ProgramSpec {
  return program;
}

/** All tools of the agent as a program sees them. */
export function toolFaces({ tools }: Pick<AgentSpec, 'tools'>): readonly ToolFace[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    schema: programSchema(tool),
  }));
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/** The schema of the arguments of `tool` as a program writes them. */
export function programSchema({
  name,
  parameters,
}: Pick<ToolSpec, 'name' | 'parameters'>): JsonObject {
  return name === ASK_TOOL ? askProgramSchema : (parameters ?? NO_PARAMETERS);
}

/** What a program reads as `data/…`: the context, the task, and how the last program failed. */
export function programData({ head, program }: Pick<RunState, 'head' | 'program'>): JsonObject {
  const { context = {}, task } = head;
  const { failure } = program ?? {};
  return {
    task: task.text,
    ...context,
    ...defined({ fail: failure && { ...failure } }),
  };
}

/** What the checks of a program know about its environment. */
export function programWorld(state: RunState, tools: readonly ToolFace[]): World {
  return {
    tools,
    memory: Object.keys(state.program?.memory.bindings ?? {}),
    dataKeys: Object.keys(programData(state)),
    asking: tools.some(({ name }) => name === ASK_TOOL),
  };
}

const STEPS = 'agent:program_steps';

/** The fuel that a program may use, regardless of its run. */
export function ownFuel({ limits }: Pick<ProgramSpec, 'limits'>): number {
  const { standard, highest } = LIMIT_RANGES.fuel;
  return Math.min(limits.fuel ?? standard, highest);
}

/** The fuel of the next program; `isShort` when the run leaves it less than its own limit. */
export function fuelFor(
  spec: Pick<ProgramSpec, 'limits'>,
  state: RunState,
): { readonly fuel: number; readonly isShort: boolean } {
  const own = ownFuel(spec);
  const rest = leftOf(state, STEPS) ?? Infinity;
  return { fuel: Math.min(own, rest), isShort: rest < own };
}

/**
 * What is left of counter `key`, and of the run's own share of it, under the run's limits and its
 * parts of ancestors' limits; null if there is none.
 */
function leftOf(state: RunState, key: string): number | null {
  const { limits, stats } = state;
  const ofRun = limits.flatMap((limit) =>
    [key, self(key)]
      .filter((one) => covers(limit, one))
      .map((one) => Math.max(0, limit.max - valueOf(stats, one))),
  );
  const ledger = ledgerOf(state);
  const ofTree = boundsOf(ledger).filter(({ limit }) => limit.key === key);
  const rests = [...ofRun, ...ofTree.map((bound) => restOf(ledger, bound))];
  return rests.length === 0 ? null : Math.min(...rests);
}

/** What `(budget/remaining)` returns, except for the fuel, which only the machine knows. */
export function budgetOf(
  state: RunState,
  now: number,
  { calls }: { readonly calls: number },
): JsonObject {
  const { limits, stats, iteration, head, startedAt, depth } = state;
  const { lisp, limits: own } = programSpecOf(head.spec);
  const ofProgram = Math.max(0, (own.toolCalls ?? LIMIT_RANGES.toolCalls.standard) - calls);
  const ofRun = leftOf(state, 'agent:tool_calls');
  const time = limits.filter((limit) => covers(limit, 'agent:wall_clock_ms'));
  const deepest = limits.filter((limit) => covers(limit, 'agent:depth'));
  const used = (key: string): number => valueOf(stats, `agent:${key}`);
  return {
    turns: leftOf(state, 'agent:iterations'),
    'work-turns': lisp === undefined ? null : Math.max(0, lisp.maxTurns - iteration),
    'retry-turns':
      lisp === undefined
        ? null
        : Math.max(0, lisp.retryTurns - Math.max(0, iteration - lisp.maxTurns)),
    'tool-calls': Math.min(ofProgram, ofRun ?? ofProgram),
    'total-tokens': leftOf(state, 'agent:total_tokens'),
    'cost-micro-usd': leftOf(state, 'agent:cost_microusd'),
    'wall-clock-ms':
      time.length === 0
        ? null
        : Math.max(0, Math.min(...time.map(({ max }) => max)) - (now - startedAt)),
    depth: {
      current: depth,
      max: deepest.length === 0 ? null : Math.min(...deepest.map(({ max }) => max)),
    },
    tokens: {
      input: used('input_tokens'),
      output: used('output_tokens'),
      total: used('total_tokens'),
    },
    'llm-requests': used('model_calls'),
  };
}
