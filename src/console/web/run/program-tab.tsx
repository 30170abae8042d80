/** A program form by form: what is done, what runs, what waits, and the answer to it beside. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ProgramAnswer, ProgramsAnswer } from '../../api.ts';
import type { EffectStatus, FormStatus, ProgramView } from '../../../core/contract/report.ts';
import { numberText } from '../../view/amounts.ts';
import { runPath } from '../base/api.ts';
import { useResource } from '../base/resource.ts';
import { query, setQuery } from '../base/route.ts';
import { LispText } from '../parts/code.tsx';
import { Dot, Failure, Pill, Skeleton } from '../parts/marks.tsx';
import { Since } from '../parts/times.tsx';
import { Long, Plain } from '../parts/words.tsx';
import { AnswerCard } from '../people/answer-card.tsx';
import type { RunModel } from './run-state.ts';

/** The programs of `run`. */
export function ProgramTab({ run }: { readonly run: RunModel }): JSX.Element {
  const wanted = query.value.get('program');
  const search = wanted === null ? '' : `?program=${encodeURIComponent(wanted)}`;
  const { data, error, load } = useResource<ProgramAnswer>(runPath(run.id, `/program${search}`));
  const pending = run.header.value?.pending ?? [];
  useEffect(() => {
    if (run.news.value > 0) void load();
  }, [run.news.value, pending.length]);
  const header = run.header.value;
  const answer = data.value;
  if (answer === null) {
    return error.value === null ? (
      <Skeleton />
    ) : (
      <Failure error={error.value} again={() => void load()} />
    );
  }
  if (answer.program === null) {
    return wanted !== null ? (
      <section class="card empty">
        <p>
          This run has no program <span class="mono">{wanted}</span>.
        </p>
        <button type="button" class="btn" onClick={() => setQuery({ program: null })}>
          Show the newest
        </button>
      </section>
    ) : (
      <section class="card empty">
        <p>This run has no program.</p>
        <p>Agents in the mode lisp, and those with programs switched on, write them.</p>
      </section>
    );
  }
  const items = pending.filter(({ kind }) => kind !== 'pause');
  return (
    <div class={items.length === 0 ? '' : 'two program-two'}>
      <div>
        <Program program={answer.program} />
        <Earlier run={run} open={answer.program.programId} />
      </div>
      {items.length === 0 || header === null ? null : (
        <section class="card" aria-label="Waits for you">
          <header class="card-head">
            <h2>Waits for you</h2>
            <span class="end">{items.length}</span>
          </header>
          {items.map((item, index) => (
            <AnswerCard
              key={item.id}
              row={{ run: header.id, agent: header.agent, task: header.task, item }}
              hasKeys={index === 0}
              onDone={() => {
                void run.loadHeader();
                void load();
              }}
            />
          ))}
        </section>
      )}
    </div>
  );
}

function Program({ program }: { readonly program: ProgramView }): JSX.Element {
  const { programId, source, status, outcome, error } = program;
  const effects = status?.effects ?? [];
  const counts = status?.counts;
  const fuel = status === undefined ? 0 : status.fuelUsed / Math.max(1, status.fuelLimit);
  return (
    <section class="card" aria-label={`Program ${programId}`}>
      <header class="card-head">
        <h2>
          Program <span class="mono">{programId}</span>
        </h2>
        {outcome === undefined ? null : (
          <Pill
            state={
              outcome === 'error'
                ? 'failed'
                : outcome === 'value' || outcome === 'returned'
                  ? 'done'
                  : outcome
            }
          >
            {outcome}
          </Pill>
        )}
        {status === undefined || counts === undefined ? null : (
          <span class="end">
            {numberText(status.fuelUsed)} of {numberText(status.fuelLimit)} units of fuel ·{' '}
            {counts.done} {counts.done === 1 ? 'effect' : 'effects'} done, {counts.waiting} waiting
          </span>
        )}
      </header>
      {fuel > 0.1 ? (
        <span
          class="bar flat"
          role="meter"
          aria-label="Fuel"
          aria-valuenow={Math.round(fuel * 100)}
        >
          <i
            class={fuel > 0.9 ? 'hot' : fuel > 0.7 ? 'warm' : ''}
            style={{ width: `${fuel * 100}%` }}
          />
        </span>
      ) : null}
      {status === undefined ? (
        <pre class="card-body">
          <LispText text={source} />
        </pre>
      ) : (
        <ol class="forms">
          {status.forms.map((form) => (
            <Form key={form.index} form={form} source={source} effects={effects} />
          ))}
        </ol>
      )}
      {program.isCut === true ? (
        <p class="card-body muted">The run no longer has the rest of this program.</p>
      ) : null}
      {error === undefined ? null : (
        <pre class="card-body tone-bad">
          <Long text={error.message} />
        </pre>
      )}
      {effects.length === 0 ? null : <Effects effects={effects} />}
    </section>
  );
}

interface FormProps {
  readonly form: FormStatus;
  readonly source: string;
  readonly effects: readonly EffectStatus[];
}

function Form({ form, source, effects }: FormProps): JSX.Element {
  const { start, end } = form.span;
  const open = effects
    .filter(({ state }) => state === 'waiting' || state === 'running')
    .map(({ span }) => span)
    .filter((span) => span.start >= start && span.end <= end)
    .toSorted((a, b) => a.start - b.start);
  const pieces: JSX.Element[] = [];
  let from = start;
  for (const span of open) {
    if (span.start < from) continue;
    pieces.push(<LispText key={`t${from}`} text={source.slice(from, span.start)} />);
    pieces.push(
      <span class="open-effect" key={`o${span.start}`}>
        <LispText text={source.slice(span.start, span.end)} />
      </span>,
    );
    from = span.end;
  }
  pieces.push(<LispText key={`t${from}`} text={source.slice(from, end)} />);
  return (
    <li class={`form ${form.state}`}>
      <span class="line mono">{form.span.line}</span>
      <span class="state">
        <Dot state={form.state} />
        {form.state}
      </span>
      <code>{pieces}</code>
      <span class="mono value">
        <Plain text={form.preview ?? ''} />
      </span>
    </li>
  );
}

function Effects({ effects }: { readonly effects: readonly EffectStatus[] }): JSX.Element {
  return (
    <table class="table effects">
      <colgroup>
        <col class="c-id" />
        <col class="c-name" />
        <col class="optional" />
        <col class="c-state" />
        <col class="c-line optional" />
      </colgroup>
      <thead>
        <tr>
          <th>Effect</th>
          <th>What</th>
          <th class="optional">Arguments</th>
          <th>State</th>
          <th class="num optional">Line</th>
        </tr>
      </thead>
      <tbody>
        {effects.map(({ id, name, text, state, span, since }) => (
          <tr key={id}>
            <td class="mono">{id}</td>
            <td class="mono">
              <Plain text={name} />
            </td>
            <td class="mono faint optional" title={text}>
              <Plain text={text ?? ''} />
            </td>
            <td>
              <Pill state={state} />{' '}
              {state === 'waiting' ? (
                <span class="muted">
                  <Since at={since} />
                </span>
              ) : null}
            </td>
            <td class="num mono optional">{span.line}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** More programs than this are a list to choose from. */
const MAX_BUTTONS = 8;

interface EarlierProps {
  readonly run: RunModel;
  /** The program that is shown. */
  readonly open: string;
}

/** The programs of the run, to choose from. */
function Earlier({ run, open }: EarlierProps): JSX.Element | null {
  const { data, load } = useResource<ProgramsAnswer>(runPath(run.id, '/programs'));
  const programs = data.value?.programs ?? [];
  const isNew = data.value !== null && !programs.some(({ programId }) => programId === open);
  useEffect(() => {
    if (isNew) void load();
  }, [open]);
  if (programs.length < 2) return null;
  if (programs.length > MAX_BUTTONS) {
    return (
      <label class="field">
        Programs of this run
        <select value={open} onChange={(event) => setQuery({ program: event.currentTarget.value })}>
          {programs.map(({ programId, outcome }) => (
            <option key={programId} value={programId}>
              {programId} {outcome ?? 'runs'}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <nav class="acts" aria-label="Programs of this run">
      {programs.map(({ programId, outcome }) => (
        <button
          key={programId}
          type="button"
          class="btn small"
          aria-pressed={programId === open}
          onClick={() => setQuery({ program: programId })}
        >
          <Dot
            state={outcome === undefined ? 'running' : outcome === 'error' ? 'failed' : 'done'}
          />
          <span class="mono">{programId}</span>
        </button>
      ))}
    </nav>
  );
}
