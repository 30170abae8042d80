/**
 * Fan-outs: one run of an agent for each item of a list, even for hundreds of items. A fan-out is
 * an agent whose loop starts children instead of asking a model, so it is started, served and
 * called like any other.
 */
import type { OnEventInput } from '../../core/contract/callback.ts';
import type { ContextOf, ValueOf } from '../../core/start/agent-types.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import { isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { inputProblems } from '../../core/limits/limits-input.ts';
import { callbackProblems } from '../../core/start/callback-specs.ts';
import { inputsSchema } from '../../core/signature/json-schema.ts';
import { printSignature } from '../../core/signature/print-signature.ts';
import type { SignatureField, SignatureType } from '../../core/contract/signature.ts';
import { shown } from '../../core/text/shown.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import {
  agentName,
  agentWithoutModel,
  ANYTHING,
  outputOf,
  type AgentWithoutModel,
} from './agent-without-model.ts';
import type { AgentDefinition } from '../definition/definitions.ts';
import { expected, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { oneOf, TEXT, wholeNumber } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';

/** The options of {@link fanOut}. */
export interface FanOutOptions<OnFailure extends 'end' | 'null' = 'end' | 'null'> {
  /** Maximum number of children per run, 2 to 200; default 30. Longer lists need more runs. */
  readonly batch?: number;
  /**
   * When the run of an item fails: `end` ends the fan-out, `null` makes the item null. Default
   * `end`.
   */
  readonly onFailure?: OnFailure;
  /** What it does, for agents that use it as a tool. Default: names the agent that it runs. */
  readonly description?: string;
  /** Limits of the whole tree. Default limits apply, with 5,000 for `children`. */
  readonly limits?: LimitsInput;
  /** Calls back when a run of the tree asks a person and when the fan-out ends. Default: none. */
  readonly onEvent?: OnEventInput;
}

/** The values of the runs, in the order of the items. */
type FanOutValue<Agent, OnFailure> = readonly (
  ValueOf<Agent> | ('null' extends OnFailure ? null : never)
)[];

/** An item is the context of its run, with `task` as its task, or the task itself. */
type FanOutContext<Agent> = string extends keyof ContextOf<Agent>
  ? JsonObject
  : { readonly items: readonly (string | (ContextOf<Agent> & { readonly task?: string }))[] };

/** The defaults of {@link FanOutOptions}. */
const FAN_OUT_DEFAULTS = {
  /** 900 items need one level of intermediate runs, and no history has more than 300 events. */
  batch: 30,
  /** A list with a gap is not what was asked for. Pipelines also end at a failure. */
  onFailure: 'end',
  /**
   * The list bounds the children; this only stops endless loops. Enough for 3,600 items at 30 a
   * batch.
   */
  children: 5_000,
} as const;

/**
 * With batches of 1 the lists would never get shorter; a run may have at most 200 live children.
 */
const BATCH = { min: 2, max: 200 } as const;

const FIELDS: FieldRules<keyof FanOutOptions> = {
  batch: wholeNumber(BATCH.min, BATCH.max),
  onFailure: { ...oneOf('end', 'null'), advice: 'Change it.' },
  description: TEXT,
  limits: inputProblems,
  onEvent: callbackProblems,
};

/**
 * Runs an agent once for each of `items` in the context, as one durable run. The value is the list
 * of their values, in the order of the items. An item that is a text is the task of its run; an
 * object is its context, with `task` as the task. More than `batch` items are split evenly over
 * further runs of the fan-out, so that no history grows with the list. As a stage, it takes the
 * list of the stage before.
 *
 * @throws UsageError with all problems of the name, agent and options, a line each.
 * @example
 * const readers = fanOut('readers', reader, { onFailure: 'null' });
 * await everloop.start('readers', { context: { items: pages } });
 */
export function fanOut<
  Agent extends AgentDefinition = AgentDefinition,
  OnFailure extends 'end' | 'null' = 'end',
>(
  name: string,
  agent: Agent | string,
  options: FanOutOptions<OnFailure> = {},
): AgentDefinition<FanOutValue<Agent, OnFailure>, FanOutContext<Agent>> {
  const problems = [
    ...nameProblems(name, 'agent'),
    ...agentProblems(name, agent),
    ...optionsProblems(options),
  ];
  if (problems.length > 0) throw usageErrorOf(problems, `Fan-out \`${String(name)}\`: `);
  const { children } = FAN_OUT_DEFAULTS;
  const { batch = FAN_OUT_DEFAULTS.batch, onFailure = FAN_OUT_DEFAULTS.onFailure } = options;
  const { description, limits = {}, onEvent } = options;
  const known = typeof agent === 'string' ? undefined : agent;
  const child = typeof agent === 'string' ? agent : agent.name;
  return agentWithoutModel({
    name,
    loop: { fanOut: { agent: child, batch, onFailure } },
    starts: known === undefined ? [] : [known],
    description: description ?? `Runs the agent ${child} once for each item of a list.`,
    limits: limits === 'unlimited' ? limits : { children, ...limits },
    onEvent,
    entry: entryOf(child, known, onFailure),
  });
}

/** The inputs and output of a fan-out: lists of those of its agent, as far as they are known. */
function entryOf(
  child: string,
  agent: AgentDefinition | undefined,
  onFailure: 'end' | 'null',
): NonNullable<AgentWithoutModel['entry']> {
  const { signature } = agent?.spec ?? {};
  const params = signature?.params ?? [];
  // An agent with only a task takes items that are texts.
  const hasInputs = params.some(({ name }) => name !== 'task');
  const description = hasInputs
    ? `what ${child} works with, an object for each of its runs`
    : `one run of ${child} for each: its task as text, with all it must know`;
  const item: SignatureType = hasInputs ? { kind: 'record', fields: params } : ANYTHING;
  const items: SignatureField = { name: 'items', type: { kind: 'list', item }, description };
  const output = outputOf(agent?.spec);
  const isLossy = onFailure === 'null' && output.kind !== 'any';
  const value: SignatureType = isLossy ? { kind: 'optional', inner: output } : output;
  return {
    signature: {
      text: printSignature({ params: [items], output: { kind: 'list', item: value } }),
      params: [items],
    },
    inputs: inputsOf(items, hasInputs ? agent?.inputs : undefined),
  };
}

/** The full schema of the items, if the agent has one that can be put inside another. */
function inputsOf(items: SignatureField, own: JsonObject | undefined): JsonObject {
  const inWords = inputsSchema([items]);
  if (own === undefined || JSON.stringify(own).includes('"$ref"')) return inWords;
  const list: Json = { type: 'array', items: own };
  return { ...inWords, properties: { items: list } };
}

function agentProblems(name: unknown, agent: unknown): readonly UsageProblem[] {
  const own = agentName(agent);
  if (own === undefined) {
    const what = 'an agent, as a definition or by its name';
    return [expected('fan_out', what, shown(agent), "Write it as fanOut('name', agent).")];
  }
  if (own !== name) return [];
  const got = `\`${own}\`, the fan-out itself`;
  return [expected('fan_out', 'another agent', got, 'It would never end.')];
}

function optionsProblems(options: unknown): readonly UsageProblem[] {
  if (!isPlainObject(options)) {
    const what = 'the options of a fan-out to be an object';
    return [expected('unknown_option', what, shown(options), 'Write them as { batch: 30 }.')];
  }
  return fieldProblems(options, FIELDS, { code: 'fan_out', owner: 'a fan-out' });
}
