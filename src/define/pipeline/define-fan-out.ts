/**
 * Fan-outs: one agent for each item of a list, hundreds of them too. A fan-out is an agent whose loop
 * starts children instead of asking a model, so it is started, served and called like any other.
 */
import type { LimitsInput } from '../../core/contract/input.ts';
import { isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { inputProblems } from '../../core/limits/compile-limits.ts';
import { inputsSchema } from '../../core/signature/json-schema.ts';
import { printSignature } from '../../core/signature/print-signature.ts';
import type { SignatureField, SignatureType } from '../../core/contract/signature.ts';
import { shown } from '../../core/text/shown.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { agentWithoutModel, type AgentWithoutModel } from './agent-without-model.ts';
import type { AgentDefinition } from '../definition/definitions.ts';
import { expected, fieldProblems, type Rules } from '../checks/fields.ts';
import { hasKind, oneOf, TEXT, wholeNumber } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';

/** The options of {@link fanOut}. */
export interface FanOutOptions {
  /** Most children of one run, 2 to 200; more items go to runs in between. Default 30. */
  readonly batch?: number;
  /** Of one item: `end` ends the fan-out; with `null` the others go on. Default `end`. */
  readonly onFailure?: 'end' | 'null';
  /** What it is good for, where it is a tool. */
  readonly description?: string;
  /** Bounds of the whole. Default limits are on, with 5,000 for `children`. */
  readonly limits?: LimitsInput;
}

/** What a fan-out does that does not say otherwise. */
const FAN_OUT_DEFAULTS = {
  /** Nine hundred items need one level of runs in between, and no history more than 300 events. */
  batch: 30,
  /** The value without one item is another one than was asked for; so it is for pipelines. */
  onFailure: 'end',
  /** The list bounds the children, so this is for loops alone: room for 3,600 items in batches of 30. */
  children: 5_000,
} as const;

/** With one child each a list would never get shorter; a run has at most 200 that live. */
const BATCH = { min: 2, max: 200 } as const;

const FIELDS: Rules<keyof FanOutOptions> = {
  batch: wholeNumber(BATCH.min, BATCH.max),
  onFailure: { ...oneOf('end', 'null'), advice: 'Change it.' },
  description: TEXT,
  limits: inputProblems,
};

/**
 * An agent once for each of `items` in the context, as one durable run. Its value is the list of their
 * values, in the order of the items. Text is the task of a run, an object its context (and `task` in it
 * its task). Of more than `batch` items each child gets an even part, as another run of the fan-out, so
 * that no history grows with the list. As a stage it takes the list that the stage before gave.
 *
 * @throws UsageError with all that is wrong with agent and options, a line each.
 * @example
 * const readers = fanOut('readers', reader, { onFailure: 'null' });
 * await everloop.start('readers', { context: { items: pages } });
 */
export function fanOut(
  name: string,
  agent: AgentDefinition | string,
  options: FanOutOptions = {},
): AgentDefinition {
  const problems = [
    ...nameProblems(name, 'agent'),
    ...agentProblems(name, agent),
    ...optionsProblems(options),
  ];
  if (problems.length > 0) throw usageErrorOf(problems, `Fan-out \`${String(name)}\`: `);
  const { batch, onFailure, children } = FAN_OUT_DEFAULTS;
  const { description, limits = {} } = options;
  const known = typeof agent === 'string' ? undefined : agent;
  const agentName = typeof agent === 'string' ? agent : agent.name;
  const chosen = {
    batch: options.batch ?? batch,
    onFailure: options.onFailure ?? onFailure,
  };
  return agentWithoutModel({
    name,
    loop: { fanOut: { agent: agentName, ...chosen } },
    starts: known === undefined ? [] : [known],
    description: description ?? `Runs the agent ${agentName} once for each item of a list.`,
    limits: limits === 'unlimited' ? limits : { children, ...limits },
    entry: entryOf(agentName, known, chosen.onFailure),
  });
}

/** What a fan-out takes in and gives: lists of what its agent does, as far as that is known. */
function entryOf(
  agentName: string,
  agent: AgentDefinition | undefined,
  onFailure: 'end' | 'null',
): NonNullable<AgentWithoutModel['entry']> {
  const { signature } = agent?.spec ?? {};
  const params = signature?.params ?? [];
  // An agent that takes its task alone is asked with text.
  const hasInputs = params.some(({ name }) => name !== 'task');
  const description = hasInputs
    ? `what ${agentName} works with, an object for each of its runs`
    : `one run of ${agentName} for each: its task as text, with all it must know`;
  const item: SignatureType = hasInputs ? { kind: 'record', fields: params } : ANYTHING;
  const items: SignatureField = { name: 'items', type: { kind: 'list', item }, description };
  const output = agent?.spec.answer.output ?? ANYTHING;
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

const ANYTHING: SignatureType = { kind: 'any' };

/** The full schema of the items, where the agent has one that can stand inside of another. */
function inputsOf(items: SignatureField, own: JsonObject | undefined): JsonObject {
  const inWords = inputsSchema([items]);
  if (own === undefined || JSON.stringify(own).includes('"$ref"')) return inWords;
  const list: Json = { type: 'array', items: own };
  return { ...inWords, properties: { items: list } };
}

function agentProblems(name: unknown, agent: unknown): readonly UsageProblem[] {
  const own = isPlainObject(agent) && hasKind(agent, 'agent') ? agent['name'] : agent;
  if (typeof own !== 'string' || own === '') {
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
