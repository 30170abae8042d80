/** Tenants, and what they are in words. Times are milliseconds since 1970. */
import { defined } from '../../core/base/defined.ts';
import type { DayLimits } from '../../core/tenant/settings.ts';
import type { TenantSettings, TenantView } from '../../core/tenant/tenant-messages.ts';
import { agoText, amountText } from './amounts.ts';
import { barsOfLines, type BudgetBar } from './budgets.ts';

/** How a tenant stands, as its workflow says. */
export type TenantStanding = Omit<TenantView, 'tenant' | 'settings'>;

/** A tenant that something is set for. */
export interface TenantRow extends Omit<TenantSettings, 'perDay'> {
  readonly tenant: string;
  /** As people write budgets: `{ costUsd: 20 }`. */
  readonly perDay: DayLimits;
  /** Null: no worker answers for it. */
  readonly standing: TenantStanding | null;
}

/** The budgets of a day by their names, with the words for a field. */
export const DAY_FIELDS: readonly (readonly [name: keyof DayLimits, label: string])[] = [
  ['costUsd', 'Cost in dollars'],
  ['totalTokens', 'Tokens'],
  ['inputTokens', 'Input tokens'],
  ['outputTokens', 'Output tokens'],
  ['modelCalls', 'Model calls'],
  ['toolCalls', 'Tool calls'],
];

/** `3 of 20`: runs that go on, of those that may. */
export function runsText({ concurrency, standing }: TenantRow): string {
  const most = concurrency === undefined ? 'any number' : String(concurrency);
  return standing === null ? `at most ${most}` : `${standing.runs} of ${most}`;
}

/** `2 for their turn, 1 for the budget of the day`; `none`. */
export function waitsText({ waits, short }: Pick<TenantStanding, 'waits' | 'short'>): string {
  const parts = [
    ...(waits === 0 ? [] : [`${waits} for ${waits === 1 ? 'its' : 'their'} turn`]),
    ...(short === 0 ? [] : [`${short} for the budget of the day`]),
  ];
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** `2026-03-10 in Europe/Vienna, ends in 3 h` */
export function dayText({ timeZone, standing }: TenantRow, now: number): string {
  const { day = null, dayEndsAt = null } = standing ?? {};
  if (day === null || dayEndsAt === null) return `begins at midnight in ${timeZone}`;
  const end = dayEndsAt <= now ? 'has ended' : `ends in ${agoText(dayEndsAt - now)}`;
  return `${day} in ${timeZone}, ${end}`;
}

/** What is spent today of each budget, tightest first. */
export function barsOfDay({ budgets }: Pick<TenantStanding, 'budgets'>): readonly BudgetBar[] {
  return barsOfLines(
    budgets.map(({ key, max, used, reserved }) => {
      const free = Math.max(0, max - used - reserved);
      return { key, origin: 'self' as const, max, used, reserved, free };
    }),
  );
}

/** `$46.00 of $50.00, $2.00 reserved for live runs` */
export function spentText({ unit, used, reserved, max }: BudgetBar): string {
  const spent = `${amountText(unit, used)} of ${amountText(unit, max)}`;
  return reserved === 0 ? spent : `${spent}, ${amountText(unit, reserved)} reserved for live runs`;
}

/** The fields of a form, by name: `concurrency`, `weight`, `timeZone`, and those of the budgets. */
export type TenantFields = Readonly<Record<string, string>>;

/** What is set, as a form shows it; empty: nothing. */
export function fieldsOf(
  row: Pick<TenantRow, 'concurrency' | 'weight' | 'timeZone' | 'perDay'>,
): TenantFields {
  const { concurrency, weight, timeZone, perDay } = row;
  const textOf = (value: number | undefined): string => (value === undefined ? '' : String(value));
  return {
    concurrency: textOf(concurrency),
    weight: textOf(weight),
    timeZone,
    ...Object.fromEntries(DAY_FIELDS.map(([name]) => [name, textOf(perDay[name])])),
  };
}

/** What a form changes: null removes a setting. */
export interface TenantFormChange {
  readonly concurrency?: number | null;
  readonly weight?: number | null;
  readonly timeZone?: string;
  readonly perDay?: DayLimits | null;
}

/** The change from `before` to `after`, and what is wrong with it; empty: nothing is. */
export function changeOf(
  before: TenantFields,
  after: TenantFields,
): { readonly change: TenantFormChange; readonly problem: string } {
  const isChanged = (name: string): boolean => before[name]?.trim() !== after[name]?.trim();
  const numbers = ['concurrency', 'weight', ...DAY_FIELDS.map(([name]) => name)];
  const wrong = numbers.find((name) => !/^(\d+(\.\d+)?)?$/.test(after[name]?.trim() ?? ''));
  if (wrong !== undefined) {
    return { change: {}, problem: `Expected a number, got “${after[wrong]?.slice(0, 80)}”.` };
  }
  const numberOf = (name: string): number | null => {
    const text = after[name]?.trim() ?? '';
    return text === '' ? null : Number(text);
  };
  const budgets = DAY_FIELDS.flatMap(([name]) => {
    const value = numberOf(name);
    return value === null ? [] : [[name, value] as const];
  });
  // Budgets that are given replace all that were set.
  const perDay = budgets.length === 0 ? null : (Object.fromEntries(budgets) as DayLimits);
  const change = defined({
    concurrency: isChanged('concurrency') ? numberOf('concurrency') : undefined,
    weight: isChanged('weight') ? numberOf('weight') : undefined,
    timeZone: isChanged('timeZone') ? after['timeZone']?.trim() || 'UTC' : undefined,
    perDay: DAY_FIELDS.some(([name]) => isChanged(name)) ? perDay : undefined,
  });
  return { change, problem: '' };
}
