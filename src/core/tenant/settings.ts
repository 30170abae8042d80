/** Settings of a tenant: their problems, and the limits of a day that follow from them. */
import type { TenantChange, TenantSettings } from './tenant-messages.ts';
import type { Limit } from '../contract/limit.ts';
import { isRate } from '../base/rate.ts';
import { isPlainObject } from '../base/json.ts';
import { SHORT_FORMS } from '../limits/limits-input.ts';
import { shown } from '../text/shown.ts';

/** Budgets of a day, as people write them: limits that add up over runs. */
const DAY_LIMITS = [
  'costUsd',
  'totalTokens',
  'inputTokens',
  'outputTokens',
  'modelCalls',
  'toolCalls',
] as const;

/** Budgets of a day as they are written: `{ costUsd: 20 }`. */
export type DayLimits = { readonly [Name in (typeof DAY_LIMITS)[number]]?: number };

/** Micro-dollars in a US dollar. */
const MICRO_USD_PER_USD = 1_000_000;

/** The keys that a ledger counts. */
export const DAY_KEYS: readonly string[] = DAY_LIMITS.map((name) => SHORT_FORMS[name]);

/** How names of time zones are written; whether there is one is known to clients and workers. */
const ZONE = /^[A-Za-z0-9_+\-/:]{1,100}$/;

/** Most runs at once that can be set. */
const MAX_CONCURRENCY = 5_000;

/** Why `limits` are no budgets of a day; undefined if they are. */
export function dayLimitsProblem(limits: unknown): string | undefined {
  if (!isPlainObject(limits)) {
    return `Expected \`perDay\` to be budgets such as { costUsd: 20 }, got ${shown(limits)}. Write it so.`;
  }
  for (const [name, max] of Object.entries(limits)) {
    if (!DAY_LIMITS.some((known) => known === name)) {
      return `Expected the budgets of a day to be among ${DAY_LIMITS.join(', ')}, got \`${name.slice(0, 100)}\`. Choose one of them.`;
    }
    const fits =
      name === 'costUsd'
        ? typeof max === 'number' && max >= 0 && Number.isSafeInteger(toMicro(max))
        : Number.isSafeInteger(max) && (max as number) >= 0;
    if (!fits) {
      const wanted = name === 'costUsd' ? 'a number' : 'a whole number';
      return `Expected \`perDay.${name}\` to be ${wanted} from 0 up, got ${shown(max)}. Change it.`;
    }
  }
  return undefined;
}

/** `limits`, which have no problem, by key of statistics. */
export function dayKeysOf(limits: DayLimits): Readonly<Record<string, number>> {
  return Object.fromEntries(
    DAY_LIMITS.flatMap((name) => {
      const max = limits[name];
      if (max === undefined) return [];
      return [[SHORT_FORMS[name], name === 'costUsd' ? toMicro(max) : max]];
    }),
  );
}

/** `value` as people write a budget on `key`. */
export function dayValueOf(key: string, value: number): number {
  return key === SHORT_FORMS.costUsd ? value / MICRO_USD_PER_USD : value;
}

/** The short form of `key`. */
export function dayNameOf(key: string): string {
  return DAY_LIMITS.find((name) => SHORT_FORMS[name] === key) ?? key;
}

function toMicro(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}

/** Why a ledger cannot take `change`, whose zone was looked at; undefined if it can. */
export function changeProblem(change: unknown): string | undefined {
  if (!isPlainObject(change)) {
    return `Expected a change of settings, got ${shown(change)}. Write { concurrency?, weight?, perDay?, rate?, timeZone? }.`;
  }
  const { concurrency, weight, perDay, rate, timeZone } = change;
  if (!isAbsent(concurrency) && !isWithin(concurrency, 1, MAX_CONCURRENCY)) {
    return `Expected \`concurrency\` to be a whole number from 1 to ${MAX_CONCURRENCY}, or null, got ${shown(concurrency)}. Change it.`;
  }
  const isWeight = typeof weight === 'number' && weight >= 0.001 && weight <= 1_000;
  if (!isAbsent(weight) && !isWeight) {
    return `Expected \`weight\` to be a number from 0.001 to 1000, or null, got ${shown(weight)}. Change it.`;
  }
  if (isPlainObject(rate) && 'concurrency' in rate) {
    return `Expected \`rate\` of a tenant to have no \`concurrency\`, got ${shown(rate)}. Set \`concurrency\` beside \`rate\` for its runs at once; requests at once are bounded by \`rate\` of a model entry.`;
  }
  if (!isAbsent(rate) && !isRate(rate)) {
    return `Expected \`rate\` to be { requestsPerMinute?, tokensPerMinute? }, each more than 0, or null, got ${shown(rate)}. Change it.`;
  }
  const isNamed = typeof timeZone === 'string' && ZONE.test(timeZone);
  if (timeZone !== undefined && !isNamed) {
    return `Expected \`timeZone\` to be an IANA name such as Europe/Vienna, got ${shown(timeZone)}. Change it.`;
  }
  return isAbsent(perDay) ? undefined : keysProblem(perDay);
}

function keysProblem(perDay: unknown): string | undefined {
  const fits =
    isPlainObject(perDay) &&
    Object.entries(perDay).every(
      ([key, max]) => DAY_KEYS.includes(key) && isWithin(max, 0, Number.MAX_SAFE_INTEGER),
    );
  return fits
    ? undefined
    : `Expected \`perDay\` to hold whole numbers for ${DAY_KEYS.join(', ')}, got ${shown(perDay)}. Set it with a client of Everloop.`;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** The limits of a day. */
export function dayLimitsOf({ perDay = {} }: TenantSettings): readonly Limit[] {
  return Object.entries(perDay).map(([key, max]) => ({ kind: 'exact', key, max }));
}

/** Nothing is set. */
const NO_SETTINGS: TenantSettings = { timeZone: 'UTC' };

/** The settings of the memo of a ledger; nothing is believed that cannot be set. */
export function readSettings(value: unknown): TenantSettings {
  if (!isPlainObject(value) || changeProblem(value) !== undefined) return NO_SETTINGS;
  const { timeZone = NO_SETTINGS.timeZone, ...rest } = value as TenantChange;
  return { ...(rest as Omit<TenantSettings, 'timeZone'>), timeZone };
}
