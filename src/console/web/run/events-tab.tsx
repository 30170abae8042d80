/** All events, windowed; a filter by type; the JSON of one beside. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EventsAnswer } from '../../api.ts';
import type { AgentEvent } from '../../../core/contract/events.ts';
import { durationText } from '../../view/amounts.ts';
import { get, RequestFailed, runPath } from '../base/api.ts';
import { query, setQuery } from '../base/route.ts';
import { JsonText } from '../parts/code.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Space, useWindow } from '../parts/rows.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';

const ROW_PX = 28;
const PAGE_EVENTS = 1_000;

const HIDDEN_FIELDS = new Set([
  'type',
  'seq',
  'at',
  'runId',
  'agent',
  'agentPath',
  'iteration',
  'depth',
]);

/** The events of `run`. */
export function EventsTab({ run }: { readonly run: RunModel }): JSX.Element {
  const events = useSignal<readonly AgentEvent[]>([]);
  const isLoaded = useSignal(false);
  const failure = useSignal<RequestFailed | null>(null);
  const load = async (): Promise<void> => {
    try {
      for (let next: number | null = events.value.length; next !== null;) {
        const answer: EventsAnswer = await get<EventsAnswer>(
          runPath(run.id, `/events?from=${next}&limit=${PAGE_EVENTS}`),
        );
        events.value = [...events.value.slice(0, next), ...answer.events];
        next = answer.events.length === 0 ? null : answer.next;
      }
      failure.value = null;
    } catch (error) {
      if (error instanceof RequestFailed) failure.value = error;
    }
    isLoaded.value = true;
  };
  useEffect(() => void load(), [run.news.value]);
  const filter = query.value.get('type') ?? '';
  const picked = Number(query.value.get('event') ?? Number.NaN);
  const shown = events.value.filter(({ type }) => String(type).includes(filter));
  const open = events.value.find(({ seq }) => seq === picked);
  if (!isLoaded.value && events.value.length === 0) return <Skeleton lines={8} />;
  return (
    <>
      <Failure error={failure.value} again={() => void load()} />
      <div class="filters">
        <input
          type="search"
          aria-label="Filter by type"
          placeholder="Filter by type: tool_call"
          value={filter}
          onInput={(event) => setQuery({ type: event.currentTarget.value })}
        />
        <span class="muted">
          {shown.length} of {events.value.length}
        </span>
      </div>
      <div class={open === undefined ? '' : 'two'}>
        <section class="card" aria-label="Events">
          <Rows shown={shown} picked={picked} start={events.value[0]?.at ?? 0} />
        </section>
        {open === undefined ? null : (
          <section class="card sticky" aria-label={`Event ${open.seq}`}>
            <header class="card-head">
              <h2 class="mono">{open.seq}</h2>
              <button
                type="button"
                class="btn quiet small right"
                onClick={() => setQuery({ event: null })}
              >
                Close
              </button>
            </header>
            <div class="card-body">
              <JsonText value={open} />
            </div>
          </section>
        )}
      </div>
    </>
  );
}

interface RowsProps {
  readonly shown: readonly AgentEvent[];
  readonly picked: number;
  readonly start: number;
}

function Rows({ shown, picked, start }: RowsProps): JSX.Element {
  const { top, first, last } = useWindow(shown.length, ROW_PX);
  return (
    <table class="table compact events" aria-rowcount={shown.length}>
      <colgroup>
        <col class="c-seq" />
        <col class="c-at" />
        <col class="c-type" />
        <col class="optional" />
      </colgroup>
      <thead>
        <tr>
          <th class="num">No.</th>
          <th class="num">After</th>
          <th>Type</th>
          <th class="optional">Data</th>
        </tr>
      </thead>
      <tbody ref={top}>
        <Space count={first} height={ROW_PX} />
        {shown.slice(first, last).map((event) => (
          <tr key={event.seq} class={event.seq === picked ? 'current' : ''}>
            <td class="num faint">{event.seq}</td>
            <td class="num faint">{durationText(event.at - start)}</td>
            <td class="mono">
              <button
                type="button"
                class="cell-link"
                onClick={() => setQuery({ event: String(event.seq) })}
              >
                <Plain text={String(event.type)} />
              </button>
            </td>
            <td class="mono faint optional">
              <Plain text={dataOf(event)} />
            </td>
          </tr>
        ))}
        <Space count={shown.length - last} height={ROW_PX} />
      </tbody>
    </table>
  );
}

function dataOf(event: AgentEvent): string {
  const fields = Object.entries(event).filter(([name]) => !HIDDEN_FIELDS.has(name));
  if (fields.length === 0) return '';
  return oneLine(JSON.stringify(Object.fromEntries(fields)).slice(0, 600), 200);
}
