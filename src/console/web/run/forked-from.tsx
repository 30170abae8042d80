/** Where a fork comes from, with the way to its source and to what differs. */
import type { JSX } from 'preact';
import type { RunHeader } from '../../api.ts';
import { hrefOf } from '../base/route.ts';
import { Plain } from '../parts/words.tsx';

/** `forked from clerk-7 at iteration 3`; nothing for a run that is no fork. */
export function ForkedFrom({ header }: { readonly header: RunHeader }): JSX.Element | null {
  const { id, forkedFrom } = header;
  if (forkedFrom === undefined) return null;
  const { run, iteration } = forkedFrom;
  return (
    <p class="muted">
      forked from{' '}
      <a class="link mono" href={hrefOf({ page: 'run', id: run })}>
        <Plain text={run} />
      </a>
      {iteration === null ? '' : ` at iteration ${iteration}`} ·{' '}
      <a class="link" href={hrefOf({ page: 'diff' }, { a: run, b: id })}>
        what differs
      </a>
    </p>
  );
}
