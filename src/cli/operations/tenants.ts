/** `everloop tenants`: what is set for tenants, and how they stand. */
import type { Command } from 'commander';
import type { TenantOptions, TenantSummary } from '../../client/tenants/tenants.ts';
import type { Rate } from '../../core/base/rate.ts';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { TenantSettings, TenantView } from '../../core/tenant/tenant-messages.ts';
import { dayNameOf, dayValueOf, type DayLimits } from '../../core/tenant/settings.ts';
import { collect } from '../terminal/arguments.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { cellText, tableText } from '../terminal/text.ts';

interface SetOptions {
  readonly concurrency?: string;
  readonly weight?: string;
  readonly perDay: readonly string[];
  readonly rate: readonly string[];
  readonly tz?: string;
  readonly taskQueues: readonly string[];
}

/** Adds `tenants` with its commands `ls`, `show` and `set`. */
export function addTenantsCommand(program: Command, act: CommandRunner): void {
  const tenants = program
    .command('tenants')
    .summary('show and set what tenants may do at once and in a day')
    .description(
      'Lists the tenants that something is set for. `set` bounds how many runs of a tenant go on at ' +
        'once, what they may spend in a day, and weighs its share of busy workers.',
    )
    .action(() => showResult(act, (everloop) => everloop.tenants.list(), listText));
  tenants
    .command('ls')
    .summary('list the tenants that something is set for')
    .action(() => showResult(act, (everloop) => everloop.tenants.list(), listText));
  tenants
    .command('show')
    .summary('show settings, budgets and runs of a tenant')
    .argument('<tenant>', 'name of the tenant')
    .action((tenant: string) =>
      showResult(
        act,
        (everloop) => everloop.tenants.show(tenant),
        (view, output) => output.safe(viewText(tenant, view)),
      ),
    );
  tenants
    .command('set')
    .summary('set what a tenant may do; `none` removes a setting')
    .argument('<tenant>', 'name of the tenant')
    .option('--concurrency <number>', 'runs at once; others wait for their turn')
    .option(
      '--per-day <key=value>',
      'budget of a day such as costUsd=20, or none; repeatable; replaces all of them',
      collect,
      [],
    )
    .option(
      '--rate <key=value>',
      'requests of all its runs, such as requestsPerMinute=60, or none; repeatable',
      collect,
      [],
    )
    .option('--tz <zone>', 'time zone in which a day begins at midnight (default: UTC)')
    .option('--weight <number>', 'share of busy task queues, from 0.001 to 1000')
    .option(
      '--task-queues <name>',
      'task queue that the weight is for; repeatable (default: that of the settings)',
      collect,
      [],
    )
    .action((tenant: string, options: SetOptions) =>
      showResult(
        act,
        (everloop) => everloop.tenants.set(tenant, settingsOf(options)),
        (view, output) => output.safe(viewText(tenant, view)),
      ),
    );
}

function settingsOf({
  concurrency,
  weight,
  perDay,
  rate,
  tz,
  taskQueues,
}: SetOptions): TenantOptions {
  return defined({
    concurrency: numberOf('--concurrency', concurrency),
    weight: numberOf('--weight', weight),
    perDay: pairsOf<DayLimits>('--per-day', 'costUsd=20', perDay),
    rate: pairsOf<Rate>('--rate', 'requestsPerMinute=60', rate),
    timeZone: tz,
    taskQueues: taskQueues.length === 0 ? undefined : taskQueues,
  });
}

/** The number of an option; null for `none`, undefined if it is not given. */
function numberOf(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined || text === 'none') return text === undefined ? undefined : null;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw wrong(`Expected \`${option}\` to be a number or none, got \`${text}\`. Change it.`);
}

/** Numbers by name; null for `none`, undefined if none is given. */
function pairsOf<Pairs>(
  option: string,
  example: string,
  pairs: readonly string[],
): Pairs | null | undefined {
  if (pairs.length === 0) return undefined;
  if (pairs.length === 1 && pairs[0] === 'none') return null;
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
      const number = Number(value);
      if (key !== undefined && Number.isFinite(number)) return [key, number];
      throw wrong(`Expected \`${option}\` to be such as ${example}, got \`${pair}\`. Change it.`);
    }),
  ) as Pairs;
}

function wrong(message: string): UsageError {
  return new UsageError('argument', message);
}

function listText(tenants: readonly TenantSummary[]): string {
  if (tenants.length === 0) return 'No tenants with settings.';
  return tableText(
    ['TENANT', 'AT ONCE', 'WEIGHT', 'PER DAY', 'DAY OF'],
    tenants.map(({ tenant, settings }) => [
      cellText(tenant),
      numberText(settings.concurrency),
      numberText(settings.weight),
      cellText(perDayText(settings)),
      cellText(settings.timeZone),
    ]),
  );
}

function numberText(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function perDayText({ perDay = {} }: TenantSettings): string {
  const budgets = Object.entries(perDay).map(
    ([key, max]) => `${dayNameOf(key)}=${dayValueOf(key, max)}`,
  );
  return budgets.join(' ') || '-';
}

function rateText({ requestsPerMinute, tokensPerMinute }: Rate): string {
  return [
    ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} requests`]),
    ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} tokens`]),
  ].join(', ');
}

function viewText(tenant: string, view: TenantView | null): string {
  if (view === null) return `Nothing is set for tenant ${tenant}: its runs wait for nothing.`;
  const { settings, budgets, runs, waits, short, day } = view;
  const { concurrency, weight = 1, rate, timeZone } = settings;
  return [
    `tenant    ${tenant}`,
    `at once   ${concurrency ?? 'any number'}: ${runs} with a turn, ${waits} waiting for one`,
    `weight    ${weight}`,
    ...(rate === undefined ? [] : [`rate      ${rateText(rate)} a minute`]),
    `day       ${day === null ? timeZone : `${day} (${timeZone})`}`,
    ...budgets.map(({ key, max, used, reserved }) => {
      const [most, spent, held] = [max, used, reserved].map((value) => dayValueOf(key, value));
      return `budget    ${dayNameOf(key)}: ${spent} of ${most} used, ${held} granted to live runs`;
    }),
    ...(short > 0 ? [`short     ${short} runs wait for a budget`] : []),
  ].join('\n');
}
