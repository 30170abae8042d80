/** Checks the input of a run and compiles the specification of the agent that it names. */
import { defined } from '../core/base/defined.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import { byteSize, isPlainObject, type Json } from '../core/base/json.ts';
import { nearestName } from '../core/text/nearest.ts';
import { shown } from '../core/text/shown.ts';
import { prepareInput, type Refusal, type RunMaterial } from '../core/start/prepare-input.ts';
import { memoryProblem } from '../core/start/start-input.ts';
import { compileAgent, type AgentWarning } from './compile-agent.ts';
import type {
  AgentDefinition,
  Registry,
  RegisteredAgent,
} from '../define/definition/definitions.ts';
import { schemaLines } from '../tools/fit-value.ts';
import { isMediaPart } from '../define/tool/tool-result.ts';
import { compiledCodeId, isCompiled } from '../core/program-text/compiled.ts';

/** An agent ready to run: plain data, all that the loop needs to begin. */
export interface PreparedAgent {
  readonly spec: AgentSpec;
  /** 16 hexadecimal digits; equal for equal specifications. */
  readonly specHash: string;
  readonly warnings: readonly AgentWarning[];
  /** Task, context and memory after templates and checks; absent: as they were given. */
  readonly material?: RunMaterial;
  /** Why the run ends before its first iteration. */
  readonly refusal?: Refusal;
}

/** The agent, or why the run cannot begin: `message` has a line for each problem. */
export type LoadOutcome =
  | { readonly kind: 'loaded'; readonly agent: PreparedAgent }
  | {
      readonly kind: 'failed';
      readonly code: 'agent_not_found' | 'invalid_input';
      readonly message: string;
    };

/** Names that a message lists; a fleet may have hundreds of agents. */
const MAX_LISTED_NAMES = 20;

/**
 * Maximum size of a specification as JSON, in bytes. It is recorded in history and in every
 * hand-over. The service takes at most 2 MiB; a larger payload makes the workflow task fail for
 * ever.
 */
export const MAX_SPEC_BYTES = 1_048_576;

/** Checks the payload of a start, which any client may have written, and compiles its agent. */
export function loadAgent(registry: Registry, input: unknown): LoadOutcome {
  const name = isPlainObject(input) ? input['agent'] : undefined;
  // Whether an agent needs a task is known only where the agent is.
  if (typeof name === 'string' && name !== '' && !registry.agents.has(name)) {
    return notFound(registry, name);
  }
  const spec = typeof name === 'string' ? registry.agents.get(name)?.definition.spec : undefined;
  // A compiled program needs no task.
  const isCompiledRun = isPlainObject(input) && input['compiled'] !== undefined;
  const shape = inputProblems(input, spec, isCompiledRun);
  if (shape.length > 0 || !hasShape(input)) return invalid(shape);
  const agent = registry.agents.get(input.agent);
  if (agent === undefined) return notFound(registry, input.agent);
  const unfit = compiledProblem(agent, input);
  if (unfit !== undefined) return invalid([unfit]);
  const above = (input.parent?.leases ?? []).map(({ limit }) => limit);
  const compiled = compileAgent(agent.definition, registry.models, input, above);
  if (compiled.kind === 'problems') return invalid(compiled.problems.map((it) => it.message));
  const { specHash, warnings } = compiled;
  const bytes = byteSize(compiled.spec as unknown as Json);
  if (bytes > MAX_SPEC_BYTES) return invalid([tooLarge(input.agent, bytes)]);
  const { inputs } = agent.definition;
  const prepared = prepareInput(compiled.spec, input, (values) =>
    inputs === undefined ? [] : schemaLines(inputs, values),
  );
  const { material, refusal } = prepared;
  const isAsGiven =
    material.task === input.task &&
    material.context === input.context &&
    material.contextDescriptions === undefined &&
    material.memory === undefined;
  return {
    kind: 'loaded',
    agent: {
      spec: compiled.spec,
      specHash,
      warnings: [...warnings, ...prepared.warnings],
      ...defined({ material: isAsGiven ? undefined : material, refusal }),
    },
  };
}

function tooLarge(agent: string, bytes: number): string {
  return `Expected the specification of agent \`${agent}\` to be at most ${MAX_SPEC_BYTES} bytes, got ${bytes}. Shorten its instructions and schemas, or give it fewer tools.`;
}

/** Tells the compiler what `inputProblems` has checked. */
function hasShape(input: unknown): input is AgentInput {
  return isPlainObject(input);
}

function inputProblems(
  input: unknown,
  asked: AgentDefinition['spec'] | undefined,
  isCompiledRun: boolean,
): readonly string[] {
  if (!isPlainObject(input)) {
    return [
      `Expected the input of a run to be an object, got ${shown(input)}. Start runs with a client of Everloop.`,
    ];
  }
  const { v, agent, task, context, history, model, memory, parent } = input;
  const badMemory = memory === undefined ? undefined : memoryProblem(memory);
  const loop = loopOf(asked);
  // A pipeline or fan-out needs no task of its own: its agents may have templates.
  const hasTemplate = asked?.prompt !== undefined || loop !== null || isCompiledRun;
  // A parent may call an agent with parameters alone.
  const needsTask = !hasTemplate && !(isPlainObject(parent) && isPlainObject(context));
  return [
    ...(v === 1
      ? []
      : [
          `Expected version \`v\` of the input to be 1, got ${shown(v)}. Start runs with a client of this version.`,
        ]),
    ...(typeof agent === 'string' && agent !== ''
      ? []
      : [`Expected \`agent\` to be the name of an agent, got ${shown(agent)}. Name one.`]),
    ...taskProblems(task, !needsTask),
    ...(context === undefined || isPlainObject(context)
      ? []
      : [
          `Expected \`context\` to be a JSON object, got ${shown(context)}. Write it as { name: value }.`,
        ]),
    ...historyProblems(history, loop),
    ...(badMemory === undefined ? [] : [badMemory]),
    ...(model === undefined || typeof model === 'string'
      ? []
      : [`Expected \`model\` to be the id of a model entry, got ${shown(model)}. Change it.`]),
  ];
}

function taskProblems(task: unknown, needsNone: boolean): readonly string[] {
  if (!isPlainObject(task)) {
    return [
      `Expected \`task\` to be { text, media? }, got ${shown(task)}. Say what the agent should do.`,
    ];
  }
  const { text, media } = task;
  const problems: string[] = [];
  if (typeof text !== 'string') {
    problems.push(`Expected \`task.text\` to be a text, got ${shown(text)}. Change it.`);
  }
  if (media !== undefined && !(Array.isArray(media) && media.every(isMediaPart))) {
    problems.push(
      "Expected `task.media` to be a list of { type: 'media', mediaType, url or data }, " +
        `got ${shown(media)}. Change it.`,
    );
  }
  const hasMedia = Array.isArray(media) && media.length > 0;
  const mayBeEmpty = hasMedia || needsNone;
  if (problems.length === 0 && !mayBeEmpty && String(text).trim() === '') {
    problems.push(
      'Expected a task with text or media, got an empty one. Say what the agent should do.',
    );
  }
  return problems;
}

/**
 * What messages call an agent without a model, and what it starts; null for one with a model.
 */
function loopOf(asked: AgentDefinition['spec'] | undefined): readonly [string, string] | null {
  if (asked?.pipeline !== undefined) return ['pipeline', 'stages'];
  return asked?.fanOut === undefined ? null : ['fan-out', 'runs'];
}

function historyProblems(history: unknown, loop: ReturnType<typeof loopOf>): readonly string[] {
  if (history === undefined) return [];
  if (loop !== null) {
    const [noun, parts] = loop;
    return [
      `Expected no \`history\` for a ${noun}, got some. Put what its ${parts} need into \`context\`.`,
    ];
  }
  const fits =
    Array.isArray(history) &&
    history.every(
      (turn) =>
        isPlainObject(turn) &&
        (turn['role'] === 'user' || turn['role'] === 'assistant') &&
        typeof turn['text'] === 'string',
    );
  if (fits) return [];
  return [
    "Expected `history` to be a list of { role: 'user' or 'assistant', text }, " +
      `got ${shown(history)}. Change it.`,
  ];
}

function invalid(messages: readonly string[]): LoadOutcome {
  return { kind: 'failed', code: 'invalid_input', message: messages.join('\n') };
}

function notFound(registry: Registry, name: string): LoadOutcome {
  const names = [...registry.agents.keys()];
  const listed = names.slice(0, MAX_LISTED_NAMES).join(', ') || 'it has none';
  const more = names.length > MAX_LISTED_NAMES ? ', …' : '';
  const near = nearestName(name, names);
  const advice = near === undefined ? 'Choose one of them.' : `Did you mean \`${near}\`?`;
  const message = `Expected an agent that the worker has (${listed}${more}), got \`${name.slice(0, 200)}\`. ${advice}`;
  return { kind: 'failed', code: 'agent_not_found', message };
}

/** Why this worker cannot compile the program or run the compiled one; undefined when it can. */
function compiledProblem(
  { definition, tools }: RegisteredAgent,
  { compiled, compiles }: Pick<AgentInput, 'compiled' | 'compiles'>,
): string | undefined {
  const given: unknown = compiled;
  if (given === undefined && compiles !== true) return undefined;
  const { name, spec } = definition;
  if (spec.mode !== 'lisp') return `only mode \`lisp\` compiles, \`${name}\` is \`${spec.mode}\`.`;
  if (given === undefined) return undefined;
  if (!isCompiled(given)) {
    return 'Expected `compiled` to be what `compileAgent` returns, got something else. Compile it again.';
  }
  const id = compiledCodeId(given);
  if (id !== given.codeId) {
    return `Expected the program of compiled \`${name}\` to be ${given.codeId}, got ${id}: it was changed. Compile it again.`;
  }
  const known = [...tools.keys()].map((tool) => tool.replaceAll('-', '_'));
  const missing = given.tools.find((tool) => !known.includes(tool.replaceAll('-', '_')));
  return missing === undefined
    ? undefined
    : `compiled \`${name}\` needs tool \`${missing}\`, which the worker does not have.`;
}
