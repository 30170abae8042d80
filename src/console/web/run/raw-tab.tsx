/** Step, start and statistics as they are. */
import type { JSX } from 'preact';
import type { StatsAnswer } from '../../api.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { exportRun } from './export-run.ts';
import type { RunModel } from './run-state.ts';

/** The raw data of `run`. */
export function RawTab({ run }: { readonly run: RunModel }): JSX.Element {
  const { data, error, load } = useResource<StatsAnswer>(runPath(run.id, '/stats'));
  const answer = data.value;
  if (answer === null) {
    return error.value === null ? (
      <Skeleton />
    ) : (
      <Failure error={error.value} again={() => void load()} />
    );
  }
  const parts = [
    ['Step', answer.step],
    ['Started with', answer.startedWith],
    ['Statistics', answer.stats],
  ] as const;
  return (
    <>
      <p class="row toolbar">
        <button type="button" class="btn small" onClick={() => void exportRun(run.id, 'history')}>
          Export history
        </button>
        <span class="muted">
          for <code>everloop replay --from FOLDER</code>
        </span>
      </p>
      {parts.map(([name, value]) =>
        value === null ? null : (
          <section class="card" key={name} aria-label={name}>
            <header class="card-head">
              <h2>{name}</h2>
            </header>
            <div class="card-body json-tree">
              <JsonTree value={value} isOpen />
            </div>
          </section>
        ),
      )}
    </>
  );
}
