/** A list without runs: nothing fits the filter, or nothing has been started. */
import type { JSX } from 'preact';
import type { AgentsAnswer } from '../../api.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf, setQuery } from '../base/route.ts';
import { Plain } from '../parts/words.tsx';
import { loadMore } from './runs-state.ts';

/** What stands below the rows of a search that stopped before it found more. */
export function SearchOn(): JSX.Element {
  return (
    <div class="empty">
      <p>No more runs were found so far. Older ones were not searched.</p>
      <button type="button" class="btn" onClick={() => void loadMore()}>
        Search older runs
      </button>
    </div>
  );
}

/** What stands in place of the rows. */
export function NoRuns({ line }: { readonly line: string }): JSX.Element {
  const agents = useResource<AgentsAnswer>('/agents').data.value?.agents ?? [];
  if (line !== '') {
    return (
      <div class="empty">
        <p>No run fits this filter.</p>
        <button type="button" class="btn" onClick={() => setQuery({ q: null })}>
          Show all runs
        </button>
      </div>
    );
  }
  if (agents.length > 0) {
    return (
      <div class="empty">
        <p>No agent has run in this namespace yet. Open one and try it:</p>
        <p>
          {agents.map(({ name }, index) => (
            <span key={name}>
              {index > 0 ? ', ' : ''}
              <a class="link mono" href={hrefOf({ page: 'agent', name })}>
                <Plain text={name} />
              </a>
            </span>
          ))}
        </p>
      </div>
    );
  }
  return (
    <div class="empty">
      <p>No agent has run in this namespace yet. Serve your agents, then start one:</p>
      <pre class="code">{'everloop dev --agents agents.ts\neverloop start AGENT "the task"'}</pre>
    </div>
  );
}
