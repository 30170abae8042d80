/** The filter line of the list: `agent:clerk tenant:acme state:waiting since:1d refund`. */
import { LISTED_STATES } from '../../../client/reading/listed-states.ts';

/** What the line asks for. */
export interface RunFilter {
  readonly agent?: string;
  /** Only runs that this schedule started. */
  readonly schedule?: string;
  readonly tenant?: string;
  /** As the list or the badge of a run names it, or `limit`: it ended at a limit. */
  readonly state?: string;
  /** A duration back from now: `30m`, `6h`, `7d`. */
  readonly since?: string;
  /** The rest: searched in id, agent and task. */
  readonly words: string;
}

const STATES: ReadonlySet<string> = new Set([...LISTED_STATES, 'limit', 'success', 'error']);

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads the line; what it does not know is searched for as words. */
export function readFilter(line: string): RunFilter {
  const fields: { -readonly [Name in keyof RunFilter]?: RunFilter[Name] } = {};
  const words: string[] = [];
  for (const part of line.trim().split(/\s+/)) {
    const [, name, value] = /^(agent|schedule|tenant|state|since):(\S+)$/.exec(part) ?? [];
    if ((name === 'agent' || name === 'tenant') && value !== undefined) fields[name] = value;
    else if (name === 'schedule' && value !== undefined) fields.schedule = decoded(value);
    else if (name === 'state' && value !== undefined) {
      // A word that is not whole yet filters nothing.
      if (STATES.has(value)) fields.state = value;
    } else if (name === 'since' && value !== undefined && sinceMs(value) !== null)
      fields.since = value;
    else if (part !== '') words.push(part);
  }
  return { ...fields, words: words.join(' ') };
}

/** The line for the runs of schedule `id`, which may have spaces. */
export function lineOfSchedule(id: string): string {
  return `schedule:${encodeURIComponent(id)}`;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** `line` with the state set, or without one. */
export function withState(line: string, state: string | null): string {
  const rest = line.replaceAll(/(^|\s)state:\S+/g, ' ').trim();
  return state === null ? rest : `state:${state} ${rest}`.trim();
}

/** The query of the API for `limit` rows of `filter`. */
export function queryOf(
  { agent, schedule, tenant, state, since, words }: RunFilter,
  now: number,
  limit: number,
): URLSearchParams {
  const query = new URLSearchParams({ roots: 'true', limit: String(limit) });
  if (agent !== undefined) query.set('agent', agent);
  if (schedule !== undefined) query.set('schedule', schedule);
  if (tenant !== undefined) query.set('tenant', tenant);
  if (state !== undefined) query.set('state', state);
  const ms = since === undefined ? null : sinceMs(since);
  if (ms !== null) query.set('since', String(now - ms));
  if (words !== '') query.set('q', words);
  return query;
}

/** The milliseconds of `30m`, `6h` or `7d`; null: it is none of these. */
export function sinceMs(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const each = UNITS[unit];
  return count === undefined || each === undefined ? null : Number(count) * each;
}
