/** One agent: what it is made of, and a form that tries it. */
import type { JSX } from 'preact';
import type { AgentAnswer, AgentCard } from '../../api.ts';
import { amountText } from '../../view/amounts.ts';
import { labelOf } from '../../view/budgets.ts';
import { mayAct } from '../base/connection.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { JsonText } from '../parts/code.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Plain } from '../parts/words.tsx';
import { Day } from './day.tsx';
import { Try } from './try.tsx';

/** The page of agent `name`. */
export function AgentPage({ name }: { readonly name: string }): JSX.Element {
  const { data, error, load } = useResource<AgentAnswer>(`/agents/${encodeURIComponent(name)}`);
  const agent = data.value?.agent;
  return (
    <>
      <nav class="crumbs" aria-label="Where">
        <a href={hrefOf({ page: 'agents' })}>Agents</a> <span class="faint">/</span>{' '}
        <span class="mono">
          <Plain text={name} />
        </span>
      </nav>
      <header class="title">
        <h1>
          <Plain text={name} />
        </h1>
        {agent === undefined ? null : <span class="tag">{agent.mode}</span>}
        <Day name={name} />
        <div class="acts">
          <a class="btn" href={hrefOf({ page: 'runs' }, { q: `agent:${name}` })}>
            Its runs
          </a>
        </div>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {agent === undefined ? error.value === null ? <Skeleton /> : null : <Parts agent={agent} />}
    </>
  );
}

function Parts({ agent }: { readonly agent: AgentCard }): JSX.Element {
  return (
    <>
      <p class="prose muted lead">
        <Plain text={agent.description} />
      </p>
      <Served agent={agent} />
      <div class="two">
        <div>
          <Tools agent={agent} />
          <Limits agent={agent} />
        </div>
        <div>
          {mayAct.value && agent.elsewhere === undefined ? <Try agent={agent} /> : null}
          <section class="card">
            <header class="card-head">
              <h2>Models</h2>
            </header>
            <ol class="plain-list card-body">
              {agent.models.map((model) => (
                <li class="mono" key={model}>
                  <Plain text={model} />
                </li>
              ))}
            </ol>
            {agent.signature === null ? null : (
              <pre class="card-body sunk">
                <Plain text={agent.signature} />
              </pre>
            )}
          </section>
        </div>
      </div>
    </>
  );
}

/** Where it is served, if workers have said it, and what the page cannot show. */
function Served({ agent }: { readonly agent: AgentCard }): JSX.Element | null {
  const { workers, versions, elsewhere, servers } = agent;
  const lines = [
    ...(versions === undefined
      ? []
      : [`Workers serve ${versions} versions of it. This is that of most of them, ${workers}.`]),
    ...(elsewhere === undefined
      ? []
      : [
          `Its workers take runs from the task queue ${elsewhere}, on which this console starts none.`,
        ]),
    ...(servers.length === 0 ? [] : [`It also has the tools of ${servers.join(', ')}.`]),
  ];
  if (lines.length === 0) return null;
  return (
    <p class="prose muted">
      <Plain text={lines.join(' ')} />
    </p>
  );
}

function Tools({ agent }: { readonly agent: AgentCard }): JSX.Element {
  return (
    <section class="card">
      <header class="card-head">
        <h2>Tools</h2>
        <span class="end">{agent.tools.length + (agent.moreTools ?? 0)}</span>
      </header>
      {agent.tools.map((tool) => (
        <details class="call" key={tool.name}>
          <summary>
            <span class="mono strong">
              <Plain text={tool.name} />
            </span>
            <span class="muted clip">
              <Plain text={tool.description} />
            </span>
            <span class="right row">
              {tool.approval === true ? <span class="tag wait">approval</span> : null}
              {tool.effect === undefined ? null : <span class="tag">{tool.effect}</span>}
            </span>
          </summary>
          <div class="io one">
            <JsonText value={tool.schema ?? {}} />
          </div>
        </details>
      ))}
    </section>
  );
}

function Limits({ agent }: { readonly agent: AgentCard }): JSX.Element {
  return (
    <section class="card">
      <header class="card-head">
        <h2>Limits</h2>
      </header>
      <table class="table">
        <tbody>
          {byWeight(agent.limits).map(({ key, max, byDefault }) => {
            const [label, unit] = labelOf(key);
            return (
              <tr key={key}>
                <td title={key}>{label}</td>
                <td class="num">
                  {amountText(unit, max)}
                  {byDefault === true ? <span class="faint"> by default</span> : null}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** What people look for first; the others keep their order. */
const FIRST_LIMITS: readonly string[] = [
  'agent:cost_microusd',
  'agent:total_tokens',
  'agent:iterations',
  'agent:duration_ms',
];

function byWeight(limits: AgentCard['limits']): AgentCard['limits'] {
  const weight = (key: string): number => FIRST_LIMITS.indexOf(key) + 1 || 99;
  return limits.toSorted((one, other) => weight(one.key) - weight(other.key));
}
