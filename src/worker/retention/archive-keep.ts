/** How long archived pages of ended runs stay. */
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';

/** What a worker does with its archive. */
export interface ArchiveOptions {
  /** Pages of runs that have ended go after this time: `90d`, `12h`. Default: never. */
  readonly keep?: string;
  /**
   * Whether the states that links hand over are archived too, so that runs can be forked from there
   * when the service has forgotten them. Default true.
   */
  readonly states?: boolean;
}

const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS };

/** The time that `text` names, in ms; undefined if it names none. */
export function keepMsOf(text: string): number | undefined {
  const [, number = '', unit = ''] = /^([1-9]\d{0,5})([hd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? 0);
  return ms > 0 ? ms : undefined;
}

/** The time of `keep`, in ms. @throws UsageError `archive` if it names none. */
export function checkedKeepMs({ keep }: ArchiveOptions): number | undefined {
  if (keep === undefined) return undefined;
  const ms = typeof keep === 'string' ? keepMsOf(keep) : undefined;
  if (ms !== undefined) return ms;
  throw new UsageError(
    'archive',
    `Expected \`archive.keep\` to be hours or days such as 12h or 90d, got ${shown(keep)}. Correct it.`,
  );
}
