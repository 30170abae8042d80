/** Reads the plan of an eval: clients before they start it, workers once more. All problems together. */
import { defined } from '../base/defined.ts';
import {
  canonicalJson,
  isDeeperThan,
  isPlainObject,
  MAX_JSON_DEPTH,
  type Json,
} from '../base/json.ts';
import type { EvalPlan } from './eval-plan.ts';
import { FORK_EFFECTS } from '../base/fork.ts';
import { isMoment, momentText, readFork } from '../fork/read-fork.ts';
import { inputProblems } from '../limits/limits-input.ts';
import { shown } from '../text/shown.ts';

/** The tries of an eval: its Step lists its runs, and a Step has 256 KB. */
export const MAX_TRIES = 200;

/** With a judge, each try is two runs. */
const MAX_JUDGED_TRIES = 100;

/** Longest name of a part or a variant. */
const MAX_NAME = 100;

/** A plan that was read, or what is wrong with it. */
export type ReadPlan =
  | { readonly kind: 'plan'; readonly plan: EvalPlan }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Reads `value`, with the defaults of what it leaves out. */
export function readPlan(value: unknown): ReadPlan {
  if (!isPlainObject(value) || isDeeperThan(value, MAX_JSON_DEPTH)) {
    return problems([
      `Expected an eval to be { parts, variants }, got ${shown(value)}. Write it so.`,
    ]);
  }
  const { v = 1, parts, variants, times = 1, effects = 'replay-only', judge } = value;
  const found = [
    ...(v === 1 ? [] : [`Expected an eval of version 1, got ${shown(v)}. Use a newer client.`]),
    ...listProblems('parts', parts, partProblems),
    ...listProblems('variants', variants, variantProblems),
    ...(isCount(times) ? [] : [`Expected \`times\` from 1 up, got ${shown(times)}. Change it.`]),
    ...((FORK_EFFECTS as readonly unknown[]).includes(effects)
      ? []
      : [
          `Expected \`effects\` to be one of ${FORK_EFFECTS.join(', ')}, got ${shown(effects)}. Change it.`,
        ]),
    ...(judge === undefined || isName(judge)
      ? []
      : [`Expected \`judge\` to be the name of an agent, got ${shown(judge)}. Change it.`]),
  ];
  if (found.length > 0) return problems(found);
  const plan = {
    v: 1,
    parts,
    variants,
    times,
    effects,
    ...defined({ judge }),
  } as unknown as EvalPlan;
  const whole = [...equalVariants(plan), ...unfitVariants(plan), ...tooMany(plan)];
  return whole.length > 0 ? problems(whole) : { kind: 'plan', plan };
}

function problems(found: readonly string[]): ReadPlan {
  return { kind: 'problems', problems: found };
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function listProblems(
  name: string,
  list: unknown,
  of: (item: { readonly [key: string]: unknown }, place: string) => readonly string[],
): readonly string[] {
  if (!Array.isArray(list) || list.length === 0) {
    return [
      `Expected \`${name}\` to be a list with at least one element, got ${shown(list)}. Fill it.`,
    ];
  }
  const items = list as readonly unknown[];
  const found = items.flatMap((item, index) => {
    const place = `${name}[${index}]`;
    if (!isPlainObject(item))
      return [`Expected \`${place}\` to be an object, got ${shown(item)}. Change it.`];
    if (!isName(item['name'])) {
      return [
        `Expected \`${place}.name\` to be text of 1 to ${MAX_NAME} characters, got ${shown(item['name'])}. Name it.`,
      ];
    }
    return of(item, place);
  });
  const names = items.map((item) => (isPlainObject(item) ? item['name'] : undefined));
  const twice = names.find((one, index) => one !== undefined && names.indexOf(one) !== index);
  return twice === undefined
    ? found
    : [
        ...found,
        `Expected \`${name}\` with names of their own, got ${shown(twice)} twice. Rename one.`,
      ];
}

function partProblems(part: { readonly [key: string]: unknown }, place: string): readonly string[] {
  const { agent, run, at, task, asked } = part;
  const found = isName(agent)
    ? []
    : [`Expected \`${place}.agent\` to be the name of an agent, got ${shown(agent)}. Name it.`];
  if (run === undefined) {
    return typeof task === 'string'
      ? found
      : [...found, `Expected \`${place}\` to have a \`run\` or a \`task\`, got neither. Add one.`];
  }
  if (typeof run !== 'string')
    return [
      ...found,
      `Expected \`${place}.run\` to be the id of a run, got ${shown(run)}. Change it.`,
    ];
  return [
    ...found,
    ...(asked === undefined || typeof asked === 'string'
      ? []
      : [`Expected \`${place}.asked\` to be text, got ${shown(asked)}. Change it.`]),
    ...(isMoment(at) ? [] : [`\`${place}\`: ${momentText(at)}`]),
  ];
}

const VARIANT_FIELDS = ['name', 'model', 'instructions', 'limits', 'definition', 'edits', 'agent'];

function variantProblems(
  variant: { readonly [key: string]: unknown },
  place: string,
): readonly string[] {
  const { model, instructions, limits, definition, edits, agent } = variant;
  const unknown = Object.keys(variant).filter((name) => !VARIANT_FIELDS.includes(name));
  const asFork = readFork({
    source: { workflowId: 'any' },
    at: 'start',
    ...defined({ edits, definition }),
  });
  return [
    ...unknown.map(
      (name) =>
        `Expected the fields of \`${place}\` to be among ${VARIANT_FIELDS.join(', ')}, got \`${name}\`. Remove it.`,
    ),
    ...[
      ['model', model],
      ['instructions', instructions],
      ['agent', agent],
    ].flatMap(([name, given]) =>
      given === undefined || typeof given === 'string'
        ? []
        : [`Expected \`${place}.${String(name)}\` to be text, got ${shown(given)}. Change it.`],
    ),
    ...inputProblems(limits).map(({ message }) => `\`${place}\`: ${message}`),
    ...(asFork.kind === 'problems' ? asFork.problems.map((text) => `\`${place}\`: ${text}`) : []),
  ];
}

/** Variants that differ in nothing but their names tell nothing. */
function equalVariants({ variants }: EvalPlan): readonly string[] {
  const seen = new Map<string, string>();
  return variants.flatMap(({ name, ...rest }) => {
    const key = canonicalJson(rest as unknown as Json);
    const other = seen.get(key);
    seen.set(key, name);
    return other === undefined
      ? []
      : [
          `Expected variants that differ, got \`${other}\` and \`${name}\`, which differ in nothing but their names. Change one.`,
        ];
  });
}

/** A task is a start, which has no recorded definition to change. */
function unfitVariants({ parts, variants }: EvalPlan): readonly string[] {
  if (!parts.some((part) => 'task' in part)) return [];
  return variants.flatMap(({ name, instructions, definition, edits }) =>
    instructions === undefined && definition === undefined && edits === undefined
      ? []
      : [
          `Expected variant \`${name}\` to have \`model\`, \`limits\` or \`agent\` alone, because there are parts with a task, got \`instructions\`, \`definition\` or \`edits\`. Use moments of runs.`,
        ],
  );
}

function tooMany({ parts, variants, times, judge }: EvalPlan): readonly string[] {
  const tries = parts.length * variants.length * times;
  const most = judge === undefined ? MAX_TRIES : MAX_JUDGED_TRIES;
  if (tries <= most) return [];
  return [
    `Expected at most ${most} tries, got ${tries} (${parts.length} parts × ${variants.length} variants × ${times}). Take several evals.`,
  ];
}
