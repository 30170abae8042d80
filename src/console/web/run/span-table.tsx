/** The timeline as a table. */
import type { JSX } from 'preact';
import { durationText } from '../../view/amounts.ts';
import type { TimelineSpan } from '../../view/spans.ts';
import { setQuery } from '../base/route.ts';
import { Space, useWindow } from '../parts/rows.tsx';
import { exactTime } from '../parts/times.tsx';
import { Plain } from '../parts/words.tsx';

const ROW_PX = 28;

/** All spans as rows. */
export function SpanTable({ spans }: { readonly spans: readonly TimelineSpan[] }): JSX.Element {
  const { top, first, last } = useWindow(spans.length, ROW_PX);
  return (
    <table class="table compact">
      <thead>
        <tr>
          <th>What</th>
          <th class="num">Iteration</th>
          <th>Began</th>
          <th class="num">Duration</th>
          <th class="optional">Attempts</th>
        </tr>
      </thead>
      <tbody ref={top}>
        <Space count={first} height={ROW_PX} />
        {spans.slice(first, last).map((span) => (
          <tr key={span.id}>
            <td class="mono">
              <button
                type="button"
                class="cell-link"
                onClick={() => setQuery({ span: span.id, iteration: String(span.iteration) })}
              >
                <Plain text={span.label} />
              </button>
            </td>
            <td class="num">{span.iteration}</td>
            <td>{exactTime(span.from)}</td>
            <td class="num">
              {span.to === undefined ? 'in progress' : durationText(span.to - span.from)}
            </td>
            <td class="optional">
              {span.attempts}
              {span.lost === undefined ? '' : `, ${span.lost.note}`}
            </td>
          </tr>
        ))}
        <Space count={spans.length - last} height={ROW_PX} />
      </tbody>
    </table>
  );
}
