/** Two runs side by side: what a fork was told, figures, and what each said and called. */
import type { JSX } from 'preact';
import type { DiffAnswer } from '../../api-forks.ts';
import { diffFigures, type DiffSideView, type DiffView } from '../../view/forks/diff.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf, query } from '../base/route.ts';
import { Failure, Pill, Skeleton } from '../parts/marks.tsx';
import { Long, oneLine, Plain } from '../parts/words.tsx';

/** The page that compares the runs `a` and `b` of the address. */
export function DiffPage(): JSX.Element {
  const [a = '', b = ''] = ['a', 'b'].map((name) => query.value.get(name) ?? '');
  const search = new URLSearchParams({ a, b }).toString();
  const { data, error, load } = useResource<DiffAnswer>(`/diff?${search}`);
  const diff = data.value?.diff ?? null;
  return (
    <>
      <header class="title">
        <h1>Two runs</h1>
        <span class="muted">
          {diff === null
            ? ''
            : `equal before iteration ${diff.from}: ${diff.sharedEntries} ${diff.sharedEntries === 1 ? 'entry' : 'entries'}`}
        </span>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {diff === null ? error.value === null ? <Skeleton /> : null : <Difference diff={diff} />}
    </>
  );
}

function Difference({ diff }: { readonly diff: DiffView }): JSX.Element {
  const sides = [diff.left, diff.right];
  return (
    <>
      <section class="card" aria-label="Figures">
        <table class="table wrapping">
          <thead>
            <tr>
              <th>From there on</th>
              {sides.map(({ id }) => (
                <th key={id} class="mono">
                  <a class="link" href={hrefOf({ page: 'run', id })}>
                    <Plain text={id} />
                  </a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {diffFigures(diff).map(([name, left, right]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[left, right].map((text, side) => (
                  <td key={side}>
                    <Long text={text} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="pair">
        {sides.map((side) => (
          <Side key={side.id} side={side} />
        ))}
      </div>
    </>
  );
}

function Side({ side }: { readonly side: DiffSideView }): JSX.Element {
  const { id, changes, calls, moreCalls, entries, moreEntries } = side;
  return (
    <section class="card" aria-label={`Run ${oneLine(id, 80)}`}>
      <header class="card-head">
        <h2 class="mono">
          <Plain text={id} />
        </h2>
      </header>
      <ol class="messages">
        {changes.map(({ name, text }, index) => (
          <li key={index}>
            <span class="tag run">{name}</span>
            <pre tabIndex={0}>
              <Long text={text} />
            </pre>
          </li>
        ))}
        {calls.map(({ callId, tool, args, outcome, isShared }) => (
          <li key={callId}>
            <span class="mono">
              {callId} <Plain text={tool} />
            </span>{' '}
            <Pill state={outcome} /> {isShared ? <span class="tag">both runs</span> : null}
            <pre tabIndex={0}>
              <Plain text={args} />
            </pre>
          </li>
        ))}
        <More count={moreCalls} name="calls" />
        {entries.map(({ index, role, iteration, text }) => (
          <li key={`entry ${index}`}>
            <span class="tag">{role}</span> <span class="faint">iteration {iteration}</span>
            <pre tabIndex={0}>
              <Long text={text} />
            </pre>
          </li>
        ))}
        <More count={moreEntries} name="entries" />
      </ol>
    </section>
  );
}

function More({
  count,
  name,
}: {
  readonly count: number;
  readonly name: string;
}): JSX.Element | null {
  if (count === 0) return null;
  return (
    <li class="muted">
      {count} more {name} are left out.
    </li>
  );
}
