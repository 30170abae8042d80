/** What is wrong with the option `compaction` of an agent. */
import type { StrategySpec, TriggerSpec } from '../../core/contract/compaction.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { statKeyInfo, statRowsUnder, type StatKind } from '../../core/stats/stat-keys.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

type Fields = { readonly [name: string]: unknown };
type Check = (fields: Fields) => readonly UsageProblem[];

const TRIGGER_CHECKS: { readonly [Kind in TriggerSpec['kind']]: Check } = {
  counter: ({ key, step }) => [
    ...keyProblems('counter', 'counter', key),
    ...wholeProblems('step', 'counter', step, 1),
  ],
  counter_prefix: ({ prefix, step }) => [
    ...prefixProblems('counter', 'counterPrefix', prefix),
    ...wholeProblems('step', 'counterPrefix', step, 1),
  ],
  gauge: ({ key, at }) => [
    ...keyProblems('gauge', 'gauge', key),
    ...finiteProblems('at', 'gauge', at),
  ],
  gauge_prefix: ({ prefix, at }) => [
    ...prefixProblems('gauge', 'gaugePrefix', prefix),
    ...finiteProblems('at', 'gaugePrefix', at),
  ],
  context: ({ share }) =>
    typeof share === 'number' && share > 0 && share <= 1
      ? []
      : [
          problem(
            `Expected \`share\` of \`context\` above 0 and up to 1, got ${shown(share)}. Change it.`,
          ),
        ],
};

const STRATEGY_CHECKS: { readonly [Kind in StrategySpec['kind']]: Check } = {
  sliding_window: ({ keep }) => wholeProblems('keep', 'slidingWindow', keep, 1),
  mask: ({ keepRecent, minBytes, tools }) => [
    ...wholeProblems('keepRecent', 'mask', keepRecent, 0),
    ...wholeProblems('minBytes', 'mask', minBytes, 1),
    ...(tools === null || (Array.isArray(tools) && tools.every((it) => typeof it === 'string'))
      ? []
      : [
          problem(
            `Expected \`tools\` of \`mask\` to be a list of names, got ${shown(tools)}. Change it.`,
          ),
        ]),
  ],
  summarize: ({ keepRecent, models, prompt, system }) => [
    ...wholeProblems('keepRecent', 'summarize', keepRecent, 0),
    ...textProblems('model', Array.isArray(models) ? (models[0] ?? null) : models),
    ...textProblems('prompt', prompt),
    ...textProblems('system', system),
  ],
};

/** All problems of the option `compaction`. */
export function compactionProblems(compaction: unknown): readonly UsageProblem[] {
  if (compaction === undefined || compaction === false) return [];
  if (!isPlainObject(compaction)) {
    return [
      problem(
        `Expected \`compaction\` to be { triggers, strategies } or false, got ${shown(compaction)}. Change it.`,
      ),
    ];
  }
  return [
    ...unknownFields(compaction, ['triggers', 'strategies'], '`compaction`'),
    ...listProblems('triggers', 'counter, gauge, context', compaction, TRIGGER_CHECKS),
    ...listProblems('strategies', 'slidingWindow, mask, summarize', compaction, STRATEGY_CHECKS),
  ];
}

function listProblems(
  field: string,
  factories: string,
  compaction: Fields,
  checks: { readonly [kind: string]: Check },
): readonly UsageProblem[] {
  const list = compaction[field];
  if (!Array.isArray(list) || list.length === 0) {
    return [
      problem(
        `Expected \`compaction.${field}\` to be a list with at least one item, got ${shown(list)}. Make them with ${factories}, …`,
      ),
    ];
  }
  return list.flatMap((item: unknown, index) => {
    const kind = isPlainObject(item) ? item['kind'] : undefined;
    const check =
      typeof kind === 'string' && Object.hasOwn(checks, kind) ? checks[kind] : undefined;
    if (check !== undefined && isPlainObject(item)) return check(item);
    const message = `Expected \`compaction.${field}[${index}]\` to be what one of ${factories}, … returns, got ${shown(item)}. Change it.`;
    return [problem(message)];
  });
}

/** Keys of the loop are known; what others count is only known to who counts it. */
function keyProblems(kind: StatKind, factory: string, key: unknown): readonly UsageProblem[] {
  if (typeof key !== 'string' || !key.includes(':')) return [noKey('key', factory, key)];
  if (!isOfLoop(key)) return [];
  return statKeyInfo(key)?.row.kind === kind ? [] : [wrongKey('key', kind, factory, key)];
}

function prefixProblems(kind: StatKind, factory: string, prefix: unknown): readonly UsageProblem[] {
  if (typeof prefix !== 'string' || prefix === '') return [noKey('prefix', factory, prefix)];
  if (!isOfLoop(prefix)) return [];
  return statRowsUnder(prefix).some((row) => row.kind === kind)
    ? []
    : [wrongKey('prefix', kind, factory, prefix)];
}

function isOfLoop(key: string): boolean {
  return key.startsWith('agent:') || key.startsWith('$self:agent:');
}

function noKey(field: string, factory: string, got: unknown): UsageProblem {
  return problem(
    `Expected \`${field}\` of \`${factory}\` to be a key of a statistic, such as agent:iterations, got ${shown(got)}. Change it.`,
  );
}

function wrongKey(field: string, kind: StatKind, factory: string, got: string): UsageProblem {
  return problem(
    `Expected \`${field}\` of \`${factory}\` to name a ${kind} of the loop, got \`${got.slice(0, 200)}\`. Change it.`,
  );
}

function wholeProblems(
  field: string,
  factory: string,
  value: unknown,
  least: number,
): readonly UsageProblem[] {
  if (Number.isSafeInteger(value) && Number(value) >= least) return [];
  return [
    problem(
      `Expected \`${field}\` of \`${factory}\` to be a whole number from ${least} up, got ${shown(value)}. Change it.`,
    ),
  ];
}

function finiteProblems(field: string, factory: string, value: unknown): readonly UsageProblem[] {
  if (Number.isFinite(value)) return [];
  return [
    problem(
      `Expected \`${field}\` of \`${factory}\` to be a finite number, got ${shown(value)}. Change it.`,
    ),
  ];
}

function textProblems(field: string, value: unknown): readonly UsageProblem[] {
  if (value === null || (typeof value === 'string' && value !== '')) return [];
  return [
    problem(
      `Expected \`${field}\` of \`summarize\` to be a text, got ${shown(value)}. Change it, or leave it out.`,
    ),
  ];
}

function problem(message: string): UsageProblem {
  return { code: 'compaction', message };
}
