/** Makes the state of a fork from a moment of its source, and from what the worker has. */
import { defined } from '../core/base/defined.ts';
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { CallAfter, ForkInput, ForkOrigin } from '../core/base/fork.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { Limit } from '../core/contract/limit.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { forkState } from '../core/fork/fork-state.ts';
import { changingCalls, noEffectsText, recordedResults } from '../core/fork/recorded-calls.ts';
import { mergeLimits } from '../core/limits/limits-input.ts';
import type { ProbedCall } from '../core/run/host.ts';
import type { RunIdentity, RunState } from '../core/run/run-state.ts';
import { compileCallbacks } from '../core/start/callback-specs.ts';
import { prepareInput } from '../core/start/prepare-input.ts';
import type { McpListing } from '../define/mcp/mcp-tools.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { schemaLines } from '../tools/fit-value.ts';
import { loadAgent, type LoadOutcome } from './load-agent.ts';

/** A moment of the source of a fork. */
export interface ForkSource {
  readonly state: RunState;
  readonly origin: Omit<ForkOrigin, 'iteration'>;
  /** What it did after the moment. Empty if nobody has to know. */
  readonly calls: readonly ProbedCall[];
  /** Children that its loops started after the moment. */
  readonly children: readonly { readonly callId: string; readonly agent: string }[];
}

/** What a fork is made of. */
export interface ForkParts {
  readonly registry: Registry;
  readonly sizes: SizeLimits;
  /** The tools of the agent's servers, if it has any. */
  readonly listing?: McpListing | undefined;
}

/** What was asked for. */
export interface AskedFork {
  /** The start of the fork. */
  readonly input: AgentInput;
  readonly fork: ForkInput;
  /** A conversation that goes on from its own end. */
  readonly converses?: boolean;
  readonly identity: Pick<RunIdentity, 'runId' | 'startedAt' | 'parent' | 'trace'>;
}

/** The fork, or why there is none. */
export type ForkOutcome =
  | {
      readonly kind: 'forked';
      readonly state: RunState;
      /** What it reads first. */
      readonly inputs: readonly string[];
      readonly warnings: readonly { readonly code: string; readonly message: string }[];
    }
  | {
      readonly kind: 'failed';
      readonly code:
        | Extract<LoadOutcome, { readonly kind: 'failed' }>['code']
        | 'fork_moment'
        | 'fork_edit'
        | 'fork_definition'
        | 'fork_effects';
      readonly message: string;
      /** In words, what another worker may have. */
      readonly what?: string;
    };

/** The calls of a source, as they are listed. */
export function callsAfter({ calls, children }: ForkSource): readonly CallAfter[] {
  return [
    ...calls.map(({ call, effect }) => ({ callId: call.callId, tool: call.tool, effect })),
    ...children.map(({ callId, agent }) => ({ callId, tool: agent, effect: 'agent' as const })),
  ];
}

/** Whether the calls of the source after the moment are needed for a fork. */
export function needsCalls({ effects }: ForkInput): boolean {
  return effects === undefined || effects === 'reuse' || effects === 'replay-only';
}

/** The state of the fork that `request` asks for. */
export function forkAgent(parts: ForkParts, source: ForkSource, request: AskedFork): ForkOutcome {
  const { fork, identity } = request;
  const { state } = source;
  const { effects = 'run', edits, stats } = fork;
  if (state.head.spec.compiled !== undefined) {
    const message = `Expected a run whose model can be asked again, got \`${source.origin.workflowId}\`, which runs a compiled program. Start the program again.`;
    return { kind: 'failed', code: 'fork_moment', message };
  }
  if (fork.effects === undefined) {
    const changing = changingCalls(callsAfter(source));
    if (changing.length > 0) {
      const message = noEffectsText(state.iteration + 1, changing);
      return { kind: 'failed', code: 'fork_effects', message };
    }
  }
  if (request.input.tenant !== state.tenant) {
    const of = state.tenant === undefined ? 'no tenant' : `tenant \`${state.tenant}\``;
    return invalid([
      `Expected a fork of a run of ${of} to be of the same, got \`${request.input.tenant ?? 'none'}\`. Start it so.`,
    ]);
  }
  const material = materialOf(parts, state, request);
  if (material.kind === 'failed') return material;
  const { head, limits, warnings } = material;
  const path = identity.parent?.path ?? head.spec.name;
  const forked = forkState(state, {
    identity: {
      ...identity,
      agentPath: path,
      depth: identity.parent?.depth ?? 0,
      ...defined({ conversation: identity.parent?.conversation ?? state.conversation }),
    },
    origin: source.origin,
    edits,
    head,
    limits,
    stats,
    converses: request.converses === true,
    effects: effects === 'run' ? undefined : effects,
    recorded:
      effects === 'reuse' || effects === 'replay-only' ? recordedResults(source.calls) : undefined,
  });
  if (forked.kind === 'problems') {
    return { kind: 'failed', code: 'fork_edit', message: forked.problems.join('\n') };
  }
  return { ...forked, warnings };
}

type Material =
  | {
      readonly kind: 'material';
      readonly head: TranscriptHead;
      readonly limits: readonly Limit[];
      readonly warnings: readonly { readonly code: string; readonly message: string }[];
    }
  | Extract<ForkOutcome, { readonly kind: 'failed' }>;

/** The head and the limits of the fork: the source's, as far as nothing else was asked for. */
function materialOf(parts: ForkParts, state: RunState, request: AskedFork): Material {
  const { input, fork } = request;
  const { spec } = state.head;
  const isCurrent = fork.definition === 'current' || input.agent !== spec.name;
  if (!isCurrent && input.model === undefined) {
    return withTask(parts, state, { request, spec, warnings: [] });
  }
  const loaded = loadAgent(parts.registry, loadable(state, input), parts.sizes, parts.listing);
  if (loaded.kind === 'failed') return loaded;
  const { agent } = loaded;
  if (isCurrent && fork.definition !== 'current') {
    const message = `Expected agent \`${spec.name}\`, whose definition was recorded, got \`${input.agent}\`. Fork with \`definition: 'current'\`.`;
    return { kind: 'failed', code: 'fork_definition', message };
  }
  if (!isCurrent) {
    const { models, pipeline, fanOut } = agent.spec;
    const asked = { ...spec, models, ...defined({ pipeline, fanOut }) };
    return withTask(parts, state, { request, spec: asked, warnings: [] });
  }
  if (agent.spec.mode !== spec.mode || kindOf(agent.spec) !== kindOf(spec)) {
    const message = `Expected an agent of mode \`${kindOf(spec)}\`, got \`${agent.spec.name}\` of mode \`${kindOf(agent.spec)}\`. Fork with \`definition: 'recorded'\`.`;
    return { kind: 'failed', code: 'fork_definition', message };
  }
  return withTask(parts, state, { request, spec: agent.spec, warnings: agent.warnings });
}

/** A pipeline and a fan-out have a mode that no model reads. */
function kindOf({ mode, pipeline, fanOut }: AgentSpec): string {
  if (pipeline !== undefined) return 'pipeline';
  return fanOut === undefined ? mode : 'fan-out';
}

/** A start with which the agent can be compiled: the task is looked at apart. */
function loadable({ head }: RunState, input: AgentInput): AgentInput {
  const { fork: _fork, context: _context, ...rest } = input;
  return { ...rest, v: 1, task: hasTask(input) ? input.task : taskOr(head.task) };
}

function taskOr(task: TranscriptHead['task']): TranscriptHead['task'] {
  return task.text.trim() === '' && (task.media ?? []).length === 0 ? { text: '-' } : task;
}

function hasTask({ task }: AgentInput): boolean {
  return task.text.trim() !== '' || (task.media ?? []).length > 0;
}

interface Specified {
  readonly request: AskedFork;
  readonly spec: AgentSpec;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** The head with the task and the context of the start, checked and filled in like those of any. */
function withTask(
  { registry }: ForkParts,
  state: RunState,
  { request, spec, warnings }: Specified,
): Material {
  const { input, fork } = request;
  const base = fork.definition === 'current' ? spec.limits : state.limits;
  // The limits of the start are already in those of a specification that it was compiled with.
  const merged = mergeLimits(base, input.limits);
  if (merged.kind === 'problems') return invalid(merged.problems.map(({ message }) => message));
  const { limits } = merged;
  const { head } = state;
  const own = fork.definition === 'current' ? spec : calledBack(spec, input);
  const { instructions: text } = fork;
  const called: AgentSpec =
    text === undefined ? own : { ...own, instructions: { kind: 'text', text } };
  const asked = called === head.spec ? head : { ...head, spec: called };
  const hasContext = input.context !== undefined;
  if (!hasTask(input) && !hasContext) return { kind: 'material', head: asked, limits, warnings };
  if (!hasTask(input) && spec.prompt !== undefined) {
    return invalid([
      `Expected \`task\` beside \`context\`, got none: the prompt of agent \`${spec.name}\` is a template, and the source's is already filled in. Say the task.`,
    ]);
  }
  const { inputs } = registry.agents.get(spec.name)?.definition ?? {};
  const given = {
    task: hasTask(input) ? input.task : head.task,
    ...defined({
      context: hasContext ? input.context : head.context,
      contextDescriptions: input.contextDescriptions,
    }),
  };
  const prepared = prepareInput(spec, given, (values) =>
    inputs === undefined ? [] : schemaLines(inputs, values),
  );
  if (prepared.refusal !== undefined) return invalid([prepared.refusal.message]);
  return {
    kind: 'material',
    head: { ...asked, ...prepared.material },
    limits,
    warnings: [...warnings, ...prepared.warnings],
  };
}

/** Whom the definition and the start of the source called back is not told of a fork. */
function calledBack(spec: AgentSpec, { onEvent }: AgentInput): AgentSpec {
  if (spec.onEvent === undefined && onEvent === undefined) return spec;
  const { onEvent: _of, ...rest } = spec;
  return onEvent === undefined ? rest : { ...rest, onEvent: compileCallbacks(onEvent) };
}

function invalid(messages: readonly string[]): Extract<Material, { readonly kind: 'failed' }> {
  return { kind: 'failed', code: 'invalid_input', message: messages.join('\n') };
}
