/**
 * The checks of the option `compaction`: of the list of triggers, of strategies, and of each item.
 */
import { isPlainObject } from '../../core/base/json.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { StrategySpec, TriggerSpec } from '../../core/contract/compaction.ts';
import { statKeyInfo, statRowsUnder, type StatKind } from '../../core/stats/stat-keys.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import {
  expected,
  fieldProblems,
  shownName,
  type Fields,
  type Kind,
  type FieldRules,
} from '../checks/fields.ts';
import { isString, listOf, wholeNumber } from '../checks/kinds.ts';

/** What the fields of triggers or strategies take, by kind, with the factory that made them. */
type Factories = {
  readonly [kind: string]: { readonly factory: string; readonly rules: FieldRules };
};

const STEP: Kind = { ...wholeNumber(1), required: true };
const KEEP_RECENT: Kind = { ...wholeNumber(0), required: true };
const AT: Kind = { wanted: 'to be a finite number', fits: Number.isFinite, required: true };

const SHARE: Kind = {
  wanted: 'above 0 and up to 1',
  fits: (share) => typeof share === 'number' && share > 0 && share <= 1,
  required: true,
};

const TOOL_NAMES: Kind = {
  wanted: 'to be a list of names',
  fits: (tools) => tools === null || listOf(isString)(tools),
  required: true,
};

/** An optional text. Factories write null when it is left out. */
const OWN_TEXT: Kind = {
  wanted: 'to be a text',
  fits: (text) => text === null || (typeof text === 'string' && text !== ''),
  advice: 'Change it, or leave it out.',
  required: true,
};

const TRIGGERS: Factories & { readonly [Name in TriggerSpec['kind']]: unknown } = {
  counter: { factory: 'counter', rules: { key: keyRule('counter'), step: STEP } },
  counter_prefix: {
    factory: 'counterPrefix',
    rules: { prefix: prefixRule('counter'), step: STEP },
  },
  gauge: { factory: 'gauge', rules: { key: keyRule('gauge'), at: AT } },
  gauge_prefix: { factory: 'gaugePrefix', rules: { prefix: prefixRule('gauge'), at: AT } },
  context: { factory: 'context', rules: { share: SHARE } },
};

const STRATEGIES: Factories & { readonly [Name in StrategySpec['kind']]: unknown } = {
  sliding_window: { factory: 'slidingWindow', rules: { keep: STEP } },
  mask: {
    factory: 'mask',
    rules: { keepRecent: KEEP_RECENT, minBytes: STEP, tools: TOOL_NAMES },
  },
  summarize: {
    factory: 'summarize',
    rules: { keepRecent: KEEP_RECENT, model: OWN_TEXT, prompt: OWN_TEXT, system: OWN_TEXT },
  },
};

/** All problems of the option `compaction`. */
export function compactionProblems(compaction: unknown): readonly UsageProblem[] {
  if (compaction === undefined || compaction === false) return [];
  if (!isPlainObject(compaction)) {
    const what = '`compaction` to be { triggers, strategies } or false';
    return [expected('compaction', what, shown(compaction))];
  }
  return [
    ...unknownOptions(compaction, ['triggers', 'strategies'], '`compaction`'),
    ...listProblems(compaction, 'triggers', 'counter, gauge, context, …', TRIGGERS),
    ...listProblems(compaction, 'strategies', 'slidingWindow, mask, summarize, …', STRATEGIES),
  ];
}

function listProblems(
  compaction: Fields,
  field: string,
  factories: string,
  known: Factories,
): readonly UsageProblem[] {
  const list = compaction[field];
  if (!Array.isArray(list) || list.length === 0) {
    const what = `\`compaction.${field}\` to be a list with at least one item`;
    return [expected('compaction', what, shown(list), `Make them with ${factories}`)];
  }
  return list.flatMap((item: unknown, index) => {
    const kind = isPlainObject(item) ? item['kind'] : undefined;
    const made = typeof kind === 'string' && Object.hasOwn(known, kind) ? known[kind] : undefined;
    if (made === undefined || !isPlainObject(item)) {
      const what = `\`compaction.${field}[${index}]\` to be what one of ${factories} returns`;
      return [expected('compaction', what, shown(item))];
    }
    const { models } = item;
    // The user wrote `model`; the factory keeps it as the only one of a list.
    const model = Array.isArray(models) ? (models[0] ?? null) : models;
    const options = { ...item, model };
    return fieldProblems(options, made.rules, { code: 'compaction', of: `\`${made.factory}\`` });
  });
}

/** A key of statistics of this kind. Users have keys of their own, which need only a `:`. */
function keyRule(kind: StatKind): readonly Kind[] {
  return statRule(
    kind,
    (key) => key.includes(':'),
    (key) => statKeyInfo(key)?.row.kind === kind,
  );
}

/** A prefix of keys of statistics. At least one key with it must be of this kind. */
function prefixRule(kind: StatKind): readonly Kind[] {
  return statRule(
    kind,
    (prefix) => prefix !== '',
    (prefix) => statRowsUnder(prefix).some((row) => row.kind === kind),
  );
}

function statRule(
  kind: StatKind,
  isKey: (key: string) => boolean,
  isKnown: (key: string) => boolean,
): readonly Kind[] {
  return [
    {
      wanted: 'to be a key of a statistic, such as agent:iterations',
      fits: (key) => isString(key) && isKey(key),
      required: true,
    },
    {
      wanted: `to name a ${kind} of the loop`,
      fits: (key) => !/^(\$self:)?agent:/.test(String(key)) || isKnown(String(key)),
      got: shownName,
    },
  ];
}
