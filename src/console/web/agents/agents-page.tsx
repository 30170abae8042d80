/** The agents that the console was given, or that workers serve. */
import type { JSX } from 'preact';
import type { AgentCard, AgentsAnswer } from '../../api.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Plain } from '../parts/words.tsx';

/** The page of all agents. */
export function AgentsPage(): JSX.Element {
  const { data, error, load } = useResource<AgentsAnswer>('/agents');
  const agents = data.value?.agents;
  const missing = data.value?.partial ?? [];
  return (
    <>
      <header class="title">
        <h1>Agents</h1>
        <span class="muted">{agents === undefined ? '' : `${agents.length} known`}</span>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {agents === undefined ? (
        error.value === null ? (
          <Skeleton />
        ) : null
      ) : agents.length === 0 ? (
        <section class="card empty">
          {missing.map(({ message }) => (
            <p key={message}>
              <Plain text={message} />
            </p>
          ))}
          <pre class="code">everloop dev --agents agents.ts</pre>
        </section>
      ) : (
        <>
          {missing.map(({ message }) => (
            <p class="muted" key={message}>
              <Plain text={message} />
            </p>
          ))}
          <div class="cards">
            {agents.map((agent) => (
              <AgentTile key={agent.name} agent={agent} />
            ))}
          </div>
        </>
      )}
    </>
  );
}

function AgentTile({ agent }: { readonly agent: AgentCard }): JSX.Element {
  const { name, description, mode, models, tools, limits, workers, versions } = agent;
  const asks = tools.filter(({ approval }) => approval === true).length;
  return (
    <section class="card agent-card">
      <h2>
        <a class="mono" href={hrefOf({ page: 'agent', name })}>
          <Plain text={name} />
        </a>
        <span class="tag">{mode}</span>
      </h2>
      <p class="muted">
        <Plain text={description} />
      </p>
      <p class="faint">
        {[
          models.join(', '),
          `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`,
          ...(asks === 0 ? [] : [`${asks} with approval`]),
          `${limits.length} limits`,
          ...(workers === undefined ? [] : [`${workers} ${workers === 1 ? 'worker' : 'workers'}`]),
          ...(versions === undefined ? [] : [`${versions} versions`]),
        ].join(' · ')}
      </p>
    </section>
  );
}
