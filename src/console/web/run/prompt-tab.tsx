/** What the next model call sees: messages, tools, tokens of each part, what differs from the transcript. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ScratchpadAnswer } from '../../api.ts';
import { numberText } from '../../view/amounts.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { JsonText } from '../parts/code.tsx';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Messages } from '../parts/messages.tsx';
import { Long, Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';

/** The next request of `run`. */
export function PromptTab({ run }: { readonly run: RunModel }): JSX.Element {
  const { data, error, load } = useResource<ScratchpadAnswer>(runPath(run.id, '/scratchpad'));
  const newest = run.newest;
  const hasEnded = run.header.value?.step != null;
  useEffect(() => {
    if (run.news.value > 0) void load();
  }, [newest, hasEnded]);
  const answer = data.value;
  if (answer === null) {
    return error.value === null ? (
      <Skeleton />
    ) : (
      <Failure error={error.value} again={() => void load()} />
    );
  }
  return (
    <>
      <Failure error={error.value} again={() => void load()} />
      {answer.isPartial ? (
        <p class="notice">
          Functions of this agent write parts of the prompt. Only its worker can call them, so these
          parts are missing here.
        </p>
      ) : null}
      <div class="two">
        <section class="card" aria-label="Messages">
          <header class="card-head">
            <h2>{hasEnded ? 'What a next call would have seen' : 'What the next call sees'}</h2>
            <span class="end">
              {answer.messages.length} messages, about {numberText(sum(answer.tokens))} tokens
            </span>
          </header>
          <LeftOut answer={answer} />
          <Messages
            messages={answer.messages}
            tokens={answer.tokens}
            inTranscript={answer.inTranscript}
          />
        </section>
        <div>
          <Parts answer={answer} />
          <Tools answer={answer} />
        </div>
      </div>
    </>
  );
}

/** The tokens of each part, the largest first. */
function Parts({ answer }: { readonly answer: ScratchpadAnswer }): JSX.Element {
  const byRole = new Map<string, number>();
  for (const [index, { role }] of answer.messages.entries()) {
    byRole.set(role, (byRole.get(role) ?? 0) + (answer.tokens[index] ?? 0));
  }
  if (answer.tools.length > 0) byRole.set('tools', sum(answer.toolTokens));
  const total = Math.max(1, sum([...byRole.values()]));
  return (
    <section class="card" aria-label="Tokens of each part">
      <header class="card-head">
        <h2>Tokens of each part</h2>
        <span class="end">about {numberText(total)}</span>
      </header>
      <dl class="card-body shares">
        {[...byRole]
          .toSorted(([, a], [, b]) => b - a)
          .map(([role, tokens]) => (
            <div key={role}>
              <dt>{role}</dt>
              <dd>
                <span class="bar" aria-hidden="true">
                  <i style={{ width: `${(tokens / total) * 100}%` }} />
                </span>
                <span class="muted">
                  {numberText(tokens)}, {Math.round((tokens / total) * 100)} %
                </span>
              </dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

/** What the transcript has and the next call does not see. */
function LeftOut({ answer }: { readonly answer: ScratchpadAnswer }): JSX.Element | null {
  const { leftOut, leftOutCount: count } = answer;
  if (count === 0) return null;
  return (
    <details class="left-out">
      <summary>
        {count} {count === 1 ? 'message' : 'messages'} of the transcript{' '}
        {count === 1 ? 'is' : 'are'} not in it
      </summary>
      <ol class="messages">
        {leftOut.map(({ role, text }, index) => (
          <li key={index}>
            <span class="tag">{role}</span> <span class="tag bad">left out</span>
            <pre tabIndex={0}>
              <del>
                <Long text={text} />
              </del>
            </pre>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Tools({ answer }: { readonly answer: ScratchpadAnswer }): JSX.Element {
  return (
    <section class="card" aria-label="Tools">
      <header class="card-head">
        <h2>Tools</h2>
        <span class="end">{answer.tools.length}</span>
      </header>
      {answer.tools.length > 0 ? null : (
        <p class="card-body muted">No tool is sent beside the messages.</p>
      )}
      {answer.tools.map((tool, index) => (
        <details class="call" key={tool.name}>
          <summary>
            <span class="mono strong">
              <Plain text={tool.name} />
            </span>
            <span class="muted clip">
              <Plain text={tool.description} />
            </span>
            <span class="right faint">{numberText(answer.toolTokens[index] ?? 0)}</span>
          </summary>
          <div class="io one">
            <JsonText value={tool.schema ?? {}} />
          </div>
        </details>
      ))}
    </section>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
