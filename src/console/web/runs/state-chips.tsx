/** States as chips with their counts; one of them filters the list. */
import type { JSX } from 'preact';
import { numberText } from '../../view/amounts.ts';
import { setQuery } from '../base/route.ts';
import { readFilter, withState } from './filter.ts';
import * as list from './runs-state.ts';

const CHIPS: readonly (readonly [name: string, state: string | null])[] = [
  ['All', null],
  ['Running', 'running'],
  ['Waits for people', 'waiting'],
  ['Completed', 'completed'],
  ['Failed', 'failed'],
  ['At a limit', 'limit'],
  ['Canceled', 'canceled'],
  ['Terminated', 'terminated'],
  ['Timed out', 'timed_out'],
];

/** The chips for the filter `line`; those without a run are left out. */
export function StateChips({ line }: { readonly line: string }): JSX.Element {
  const state = readFilter(line).state ?? null;
  return (
    <div class="chips" role="group" aria-label="State">
      {CHIPS.map(([name, value]) => {
        const isOn = state === value;
        const count = countOf(value);
        if (value !== null && !isOn && list.counts.value !== null && !count) return null;
        return (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={isOn}
            onClick={() => setQuery({ q: withState(line, value) })}
          >
            {name} {count ? <b>{count}</b> : null}
          </button>
        );
      })}
    </div>
  );
}

/** Of runs that ended themselves the service has no number: those of the rows that were read count. */
function countOf(state: string | null): string {
  const known = list.counts.value;
  const more = list.cursor.value === null ? '' : '+';
  if (state === 'limit') {
    const count = list.endedAs('limit_exceeded');
    return count === 0 ? '' : `${numberText(count)}${more}`;
  }
  if (state === 'canceled') {
    const own = list.endedAs('canceled');
    const count = own + (known?.canceled ?? 0);
    return count === 0 ? '' : `${numberText(count)}${own === 0 ? '' : more}`;
  }
  const count = state === null ? list.total.value : known?.[state as keyof typeof known];
  return count == null || (count === 0 && state !== null) ? '' : numberText(count);
}
