/** How much history the open link of a run has, and how far it is to the next hand-over. */
import type { JSX } from 'preact';
import type { LinksAnswer } from '../../api.ts';
import { bytesText, numberText } from '../../view/amounts.ts';
import { HANDOVER_AT, shareOfLink } from '../../view/history.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { setQuery } from '../base/route.ts';
import type { RunModel } from './run-state.ts';

const REFRESH_MS = 15_000;

/** The bar of the history of `run`; a click opens its links. */
export function HistoryBar({ run }: { readonly run: RunModel }): JSX.Element | null {
  const isLive = run.header.value?.state !== 'ended';
  const { data } = useResource<LinksAnswer>(
    runPath(run.id, '/links'),
    isLive ? REFRESH_MS : undefined,
  );
  const links = data.value?.links ?? [];
  const last = links.at(-1);
  if (last === undefined) return null;
  const share = Math.min(1, shareOfLink(last));
  const percent = Math.round(share * 100);
  const words = `${numberText(last.events)} events · ${bytesText(last.bytes)} · link ${links.length}`;
  const distance = isLive
    ? `${percent} % of the way to the next hand-over, at about ${numberText(HANDOVER_AT.events)} events or ${bytesText(HANDOVER_AT.bytes)}`
    : `${percent} % of a link`;
  return (
    <button
      type="button"
      class="budget"
      title={`History: ${words}. ${distance}. Show all links.`}
      onClick={() => setQuery({ tab: 'health' })}
    >
      <span class="row between">
        <span class="muted">History</span>
        <span class="amount clip">
          <b>{words}</b>
        </span>
      </span>
      <span
        class="bar"
        role="meter"
        aria-label="History"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={distance}
      >
        <i class={share >= 0.9 ? 'warm' : ''} style={{ width: `${share * 100}%` }} />
      </span>
    </button>
  );
}
