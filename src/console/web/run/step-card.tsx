/** How a run ended: the answer, or why there is none. */
import type { FunctionComponent, JSX } from 'preact';
import { EVAL_AGENT } from '../../../core/evaluation/eval-plan.ts';
import type { StatsAnswer, StepHead } from '../../api.ts';
import { durationText } from '../../view/amounts.ts';
import { spentTexts } from '../../view/spent.ts';
import { evalRows, partialTextOf } from '../../view/forks/evals.ts';
import { useResource } from '../base/resource.ts';
import { runPath } from '../base/api.ts';
import { lazy } from '../parts/lazy.tsx';
import { JsonText } from '../parts/code.tsx';
import { Pill } from '../parts/marks.tsx';
import { Prose } from '../parts/prose.tsx';
import { Plain } from '../parts/words.tsx';
import type { EvalCardProps } from './eval-card.tsx';
import type { RunModel } from './run-state.ts';

const EvalCard: FunctionComponent<EvalCardProps> = lazy(
  async () => (await import('./eval-card.tsx')).EvalCard,
);

/** The end of `run`. */
export function StepCard({
  run,
  step,
}: {
  readonly run: RunModel;
  readonly step: StepHead;
}): JSX.Element {
  const whole = useResource<StatsAnswer>(runPath(run.id, '/stats')).data.value?.step;
  const value = whole?.value;
  const { status, message, reason, usage, iterations } = step;
  // The transcript ends with the answer: it is not said twice.
  const isSaid = typeof value === 'string' && lastAnswer(run) === value.trim();
  const found = run.header.value?.agent === EVAL_AGENT ? (value ?? whole?.details) : undefined;
  const rows = evalRows(found);
  const hasBody = status !== 'success' || (value != null && !isSaid);
  return (
    <section class="card step" aria-label="How it ended">
      <header class="card-head">
        <Pill state={status} />
        <span class="muted">
          {iterations} {iterations === 1 ? 'iteration' : 'iterations'},{' '}
          {spentTexts(usage).join(', ')}, {durationText(usage.durationMs)}
        </span>
      </header>
      {hasBody ? (
        <div class="card-body">
          {status === 'success' ? null : (
            <p class="tone-bad">
              <Plain text={message ?? reason} />
            </p>
          )}
          {rows !== null ? (
            <EvalCard rows={rows} partial={partialTextOf(found)} />
          ) : value == null || isSaid ? null : typeof value === 'string' ? (
            <Prose text={value} />
          ) : (
            <JsonText value={value} />
          )}
        </div>
      ) : null}
    </section>
  );
}

/** The answer in the last reply that is shown; empty: there is none. */
function lastAnswer(run: RunModel): string {
  const parts = run.section.value.at(-1)?.reply?.parts ?? [];
  const last = parts.findLast(({ kind }) => kind === 'answer' || kind === 'text');
  return last?.text.trim() ?? '';
}
