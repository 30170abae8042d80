/** Problems of limits that a user wrote. */
import {
  AGENT_PREFIX,
  isSelf,
  STAT_KEYS,
  statKeyInfo,
  statRowsUnder,
  withoutSelf,
  type StatKeyRow,
} from '../stats/stat-keys.ts';
import { editDistance } from '../../lisp/base/suggest.ts';
import { SELF_PREFIX } from '../contract/stats.ts';
import { shown } from '../text/shown.ts';
import type { UsageProblem } from '../base/usage-error.ts';
import type { Limit, UnknownUsage } from '../contract/limit.ts';
import { measuresUsage } from './usage-limits.ts';

/** All problems of one limit, each with the code `limit_key`; none if it can be watched. */
export function limitProblems(value: unknown): readonly UsageProblem[] {
  if (!hasShape(value)) {
    return [
      problem(
        "Expected a limit to be { kind: 'exact' | 'prefix', key: text, max: number, " +
          `onReach?: 'end' | 'refuse', onUnknownUsage?: 'estimate' | 'warn' | 'end' }, got ${shown(value)}. Change it.`,
      ),
    ];
  }
  const rows = watchedRows(value);
  const messages = [
    keyMessage(value, rows),
    maxMessage(value, rows),
    refuseMessage(value, rows),
    usageMessage(value),
  ];
  return messages.flatMap((message) => (message === undefined ? [] : [problem(message)]));
}

function hasShape(value: unknown): value is Limit {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, key, max, onReach, onUnknownUsage } = value as { readonly [name: string]: unknown };
  return (
    (kind === 'exact' || kind === 'prefix') &&
    typeof key === 'string' &&
    typeof max === 'number' &&
    (onReach === undefined || onReach === 'end' || onReach === 'refuse') &&
    (onUnknownUsage === undefined || isUnknownUsage(onUnknownUsage))
  );
}

/** Whether `value` says what replies without usage do. */
export function isUnknownUsage(value: unknown): value is UnknownUsage {
  return value === 'estimate' || value === 'warn' || value === 'end';
}

/** The rows of the table that the limit watches; undefined for user keys. */
function watchedRows(limit: Limit): readonly StatKeyRow[] | undefined {
  const base = withoutSelf(limit.key);
  if (limit.kind === 'exact') {
    if (!base.startsWith(AGENT_PREFIX)) return undefined;
    const info = statKeyInfo(limit.key);
    return info === undefined ? [] : [info.row];
  }
  // A prefix shorter than `agent:` also watches user keys, so it names no rows.
  return base.startsWith(AGENT_PREFIX) ? statRowsUnder(limit.key) : undefined;
}

function keyMessage(limit: Limit, rows: readonly StatKeyRow[] | undefined): string | undefined {
  const { key } = limit;
  if (rows === undefined) {
    if (limit.kind === 'prefix' || withoutSelf(key).includes(':')) return undefined;
    return `Expected the key of a limit of your own to contain \`:\`, got \`${key}\`. Write it as \`name:${key}\`.`;
  }
  if (rows.length === 0) {
    return `Expected the key of a limit to be a statistic of the loop, got \`${key}\`. ${advice(key)}`;
  }
  if (isSelf(key) && rows.every((row) => row.kind === 'gauge')) {
    return `Expected \`${SELF_PREFIX}\` in front of counters only, got \`${key}\`, which is a gauge. Remove \`${SELF_PREFIX}\`: gauges are never summed over a tree.`;
  }
  return undefined;
}

/** Suggests the nearest key; keeps a tool's or model's name after it if the key takes one. */
function advice(key: string): string {
  const self = isSelf(key) ? SELF_PREFIX : '';
  const base = withoutSelf(key);
  const [, head = base, tail = ''] = /^([^:]*:[^:]*)(:.*)$/s.exec(base) ?? [];
  let near = '';
  let best = Infinity;
  for (const { key: known, per } of STAT_KEYS) {
    const takesName = tail !== '' && per.some((form) => form !== 'none');
    const distance = editDistance(takesName ? head : base, known);
    if (distance < best) [near, best] = [takesName ? known + tail : known, distance];
  }
  return `Did you mean \`${self}${near}\`?`;
}

function maxMessage(limit: Limit, rows: readonly StatKeyRow[] | undefined): string | undefined {
  const counters = rows?.length !== 0 && rows?.every((row) => row.kind === 'counter') === true;
  const whole = counters && !Number.isInteger(limit.max);
  if (Number.isFinite(limit.max) && limit.max >= 0 && !whole) return undefined;
  const expected = counters ? 'a whole number from 0 up' : 'a number from 0 up';
  return `Expected \`max\` of the limit on \`${limit.key}\` to be ${expected}, got ${limit.max}. Change it.`;
}

function refuseMessage(limit: Limit, rows: readonly StatKeyRow[] | undefined): string | undefined {
  if (limit.onReach !== 'refuse' || rows?.length === 0) return undefined;
  if (rows?.every((row) => row.refusable === true) === true) return undefined;
  const names = STAT_KEYS.filter((row) => row.refusable === true).map((row) =>
    row.key.slice(AGENT_PREFIX.length),
  );
  return `Expected \`onReach: 'refuse'\` only on ${names.join(', ')}, got it on \`${limit.key}\`. Use \`onReach: 'end'\`.`;
}

function usageMessage(limit: Limit): string | undefined {
  if (limit.onUnknownUsage === undefined || measuresUsage(limit)) return undefined;
  return `Expected \`onUnknownUsage\` only on limits on tokens and cost, got it on \`${limit.key}\`. Remove it.`;
}

function problem(message: string): UsageProblem {
  return { code: 'limit_key', message };
}
