/** An agent whose loop starts other agents instead of asking a model: a pipeline, a fan-out. */
import { defined } from '../../core/base/defined.ts';
import type { OnEventInput } from '../../core/contract/callback.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type {
  EvaluationSpec,
  SignatureSpec,
  FanOutSpec,
  PipelineSpec,
} from '../../core/contract/spec.ts';
import type { SignatureType } from '../../core/contract/signature.ts';
import { isPlainObject, type JsonObject } from '../../core/base/json.ts';
import { hasKind, isString } from '../checks/kinds.ts';
import { AGENT_DEFAULTS } from '../agent/agent-options.ts';
import type { AgentDefinition } from '../definition/definitions.ts';
import { SECTION_NAMES, textAnswer } from '../agent/reply-layout.ts';

/** The type of a value about which nothing is known. */
export const ANYTHING: SignatureType = { kind: 'any' };

/** The type of what a run of an agent gives; one that answers as text gives anything. */
export function outputOf(spec: AgentDefinition['spec'] | undefined): SignatureType {
  return spec === undefined || spec.answer.kind === 'text'
    ? ANYTHING
    : (spec.answer.output ?? ANYTHING);
}

/** The name of an agent, given as a definition or by its name; undefined for anything else. */
export function agentName(agent: unknown): string | undefined {
  const name = isPlainObject(agent) && hasKind(agent, 'agent') ? agent['name'] : agent;
  return isString(name) && name !== '' ? name : undefined;
}

/** What {@link agentWithoutModel} needs; the options are checked already. */
export interface AgentWithoutModel {
  readonly name: string;
  readonly loop:
    | { readonly pipeline: PipelineSpec }
    | { readonly fanOut: FanOutSpec }
    | { readonly evaluation: EvaluationSpec };
  /** The agents that it starts. */
  readonly starts: readonly AgentDefinition[];
  readonly description?: string | undefined;
  readonly limits?: LimitsInput | undefined;
  readonly onEvent?: OnEventInput | undefined;
  /** Its inputs, also when it is used as a tool; absent: a task and any context. */
  readonly entry?: { readonly signature: SignatureSpec; readonly inputs: JsonObject } | undefined;
}

/** The definition of an agent without a model of its own. */
export function agentWithoutModel<Value, Context>({
  name,
  loop,
  starts,
  description,
  limits,
  onEvent,
  entry,
}: AgentWithoutModel): AgentDefinition<Value, Context> {
  return {
    kind: 'agent',
    name,
    spec: {
      v: 1,
      name,
      ...defined({ description }),
      // The mode is not used; `text` is one without a conversation.
      mode: 'text',
      ...defined({ signature: entry?.signature }),
      instructions: null,
      rules: null,
      tools: [],
      toolchain: { kind: 'native', section: SECTION_NAMES.action },
      answer: { ...textAnswer().spec, validators: [] },
      react: null,
      ...loop,
      examples: [],
      parallel: AGENT_DEFAULTS.parallel,
      maxCallsPerTurn: AGENT_DEFAULTS.maxCallsPerTurn,
      timeZone: AGENT_DEFAULTS.timeZone,
      queues: {},
    },
    model: null,
    stages: starts,
    ...defined({ limits, onEvent, inputs: entry?.inputs }),
    tools: [],
    validators: [],
    standards: { answer: null, sections: new Map() },
  };
}
