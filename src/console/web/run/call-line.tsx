/** One call on one line, which opens to arguments and result side by side. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { CallAnswer } from '../../api.ts';
import { durationText, moneyText, numberText, bytesText } from '../../view/amounts.ts';
import {
  attemptsOf,
  lostTimeOf,
  workerName,
  type AttemptView,
  type LostTime,
} from '../../view/attempts.ts';
import type { CallView, IterationView, WaitView } from '../../view/iteration-view.ts';
import { get, runPath } from '../base/api.ts';
import { hrefOf, query, setQuery } from '../base/route.ts';
import { toolOf } from '../base/tools.ts';
import { JsonText } from '../parts/code.tsx';
import { Dot } from '../parts/marks.tsx';
import { Since } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { LossLine } from './iteration-marks.tsx';
import type { RunModel } from './run-state.ts';

/** What a line shows. */
export interface CallLineProps {
  readonly call: CallView;
  readonly view: IterationView;
  readonly run: RunModel;
  readonly attempts: readonly AttemptView[];
}

/** One call. */
export function CallLine({ call, view, run, attempts }: CallLineProps): JSX.Element {
  const wait = view.waits.find((each) => each.callId === call.callId && each.kind !== 'question');
  const isOpen = query.value.get('span') === `call ${call.callId}`;
  // A question names its call only when it is answered.
  const question = view.waits.find(({ kind, to }) => kind === 'question' && to === undefined);
  const state = stateOf(call, call.tool === 'ask_user' ? question : wait);
  const { tool, args, child } = call;
  const lost = call.losses > 0 || call.to === undefined ? lostOf(call, view, attempts) : null;
  return (
    <details
      class="call"
      id={`call-${call.callId}`}
      open={isOpen}
      onToggle={(event) => {
        const isNowOpen = event.currentTarget.open;
        if (isNowOpen !== isOpen) setQuery({ span: isNowOpen ? `call ${call.callId}` : null });
      }}
    >
      <summary>
        <Dot state={state} />
        <span class="mono strong">
          <Plain text={tool} />
        </span>
        <span class="mono args clip">
          <Plain text={oneLine(args === null ? '' : JSON.stringify(args), 300)} />
        </span>
        <span class="right row muted">
          {state === 'ok' ? null : <span class={`tag ${toneClass(state)}`}>{state}</span>}
          {call.cached === true ? <span class="tag">cached</span> : null}
          {call.losses > 0 || lost !== null ? (
            <span class="tag bad">{lost?.note ?? `${call.attempts + call.losses} attempts`}</span>
          ) : null}
          {child === undefined ? null : (
            <a class="link mono" href={hrefOf({ page: 'run', id: child.id })}>
              <Plain text={child.agent} />
            </a>
          )}
          <span>
            {call.to === undefined ? (
              <Since at={call.from} />
            ) : (
              durationText(call.durationMs ?? call.to - call.from)
            )}
          </span>
        </span>
      </summary>
      {isOpen ? <Inside call={call} wait={wait} run={run} attempts={attempts} view={view} /> : null}
    </details>
  );
}

function stateOf(call: CallView, wait: WaitView | undefined): string {
  if (call.outcome !== undefined) return call.outcome;
  if (call.to !== undefined) return call.child?.status ?? 'ok';
  return wait !== undefined && wait.to === undefined ? 'waiting' : 'running';
}

function toneClass(state: string): string {
  if (state === 'waiting') return 'wait';
  return state === 'running' || state === 'canceled' ? '' : 'bad';
}

interface InsideProps extends CallLineProps {
  readonly wait: WaitView | undefined;
}

/** What the call lost; null: nothing. */
function lostOf(
  { callId, from, to }: CallView,
  { number: iteration }: IterationView,
  attempts: readonly AttemptView[],
): LostTime | null {
  return lostTimeOf(
    attemptsOf(attempts, { iteration, callId, from, ...(to === undefined ? {} : { to }) }),
  );
}

function Inside({ call, wait, run, attempts, view }: InsideProps): JSX.Element {
  const whole = useSignal<CallAnswer | null>(null);
  const problem = useSignal('');
  const { callId, cut, child, repeats, from, to } = call;
  const mine = attemptsOf(attempts, {
    iteration: view.number,
    callId,
    from,
    ...(to === undefined ? {} : { to }),
  });
  const lost = lostTimeOf(mine);
  const effect = toolOf(run.header.value?.agent ?? '', call.tool)?.effect;
  const isCut = cut !== undefined || isLong(call.output) || isLong(call.args);
  const showAll = (): void => {
    get<CallAnswer>(runPath(run.id, `/calls/${encodeURIComponent(callId)}`)).then(
      (answer) => (whole.value = answer),
      (error: unknown) => {
        problem.value = error instanceof Error ? error.message : 'It could not be read.';
      },
    );
  };
  const args = whole.value?.args ?? call.args;
  const output = whole.value?.error ?? call.error ?? whole.value?.output ?? call.output;
  const facts = [
    `call ${callId}`,
    ...(effect === undefined ? [] : [`effect ${effect}`]),
    ...(call.attempts + call.losses > 1 ? [`${call.attempts + call.losses} attempts`] : []),
    ...mine
      .slice(-1)
      .flatMap(({ worker }) => (worker === undefined ? [] : [`at worker ${workerName(worker)}`])),
    ...(wait?.kind === 'approval' && wait.to !== undefined
      ? [
          `${wait.result ?? 'decided'}${wait.by === undefined ? '' : ` by ${wait.by}`} after ${durationText(wait.to - wait.from)}`,
        ]
      : []),
    ...(repeats === undefined ? [] : [`the same result ${repeats} times in a row`]),
    ...(child === undefined
      ? []
      : [`${numberText(child.tokens)} tokens and ${moneyText(child.costMicroUsd)} below`]),
    ...(cut === undefined
      ? []
      : [`the model saw ${bytesText(cut.shown)} of ${bytesText(cut.total)}`]),
  ];
  return (
    <div class="inside">
      <div class="io">
        <div>
          <h3>Arguments</h3>
          <JsonText value={args} />
        </div>
        <div>
          <h3>{call.error === undefined ? 'Result' : 'Error'}</h3>
          {output === undefined ? (
            <p class="muted">{call.to === undefined ? 'not yet' : 'none'}</p>
          ) : (
            <JsonText value={output} />
          )}
        </div>
      </div>
      {lost === null ? null : (
        <div class="loss">
          <LossLine lost={lost} />
        </div>
      )}
      <footer class="row faint">
        <span>{facts.join(' · ')}</span>
        {isCut && whole.value === null ? (
          <button type="button" class="btn small right" onClick={showAll}>
            Show all
          </button>
        ) : null}
        {whole.value?.isCut === true ? (
          <span class="right">The run keeps no more of it.</span>
        ) : null}
        {problem.value === '' ? null : <span class="tone-bad">{problem.value}</span>}
      </footer>
    </div>
  );
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.includes('…');
}
