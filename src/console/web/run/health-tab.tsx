/** Links, history and retries of a run, the workers that served it, and Temporal's own UI. */
import type { JSX } from 'preact';
import { defined } from '../../../core/base/defined.ts';
import type { LinksAnswer } from '../../api.ts';
import { bytesText, durationText, numberText } from '../../view/amounts.ts';
import { attemptsOf, lossText, lostTimeOf, type AttemptView } from '../../view/attempts.ts';
import { runPath } from '../base/api.ts';
import { meta } from '../base/connection.ts';
import { useResource } from '../base/resource.ts';
import { setQuery } from '../base/route.ts';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { clockText, exactTime } from '../parts/times.tsx';
import { Identity } from '../parts/identity.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';

/** The health of `run`. */
export function HealthTab({ run }: { readonly run: RunModel }): JSX.Element {
  return (
    <>
      <Links run={run} />
      <Workers attempts={run.attempts.value} />
      <Retries attempts={run.attempts.value} run={run} />
    </>
  );
}

function Links({ run }: { readonly run: RunModel }): JSX.Element {
  const { data, error, load } = useResource<LinksAnswer>(runPath(run.id, '/links'));
  const links = data.value?.links;
  const known = meta.value;
  return (
    <section class="card" aria-label="Links">
      <header class="card-head">
        <h2>Links of its history</h2>
        <span class="end">
          {links === undefined ? '' : `${links.length} ${links.length === 1 ? 'link' : 'links'}`}
        </span>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {links === undefined ? (
        error.value === null ? (
          <Skeleton lines={2} />
        ) : null
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th>Link</th>
              <th class="optional">Began</th>
              <th class="num">Duration</th>
              <th class="num">Events</th>
              <th class="num">Size</th>
              <th class="optional">Execution</th>
            </tr>
          </thead>
          <tbody>
            {links.map((link, index) => (
              <tr key={link.executionId}>
                <td>{index + 1}</td>
                <td class="optional">{exactTime(link.startedAt)}</td>
                <td class="num">
                  {link.closedAt === null ? 'open' : durationText(link.closedAt - link.startedAt)}
                </td>
                <td class="num">{numberText(link.events)}</td>
                <td class="num">{bytesText(link.bytes)}</td>
                <td class="mono optional">
                  {known?.temporalUi == null || known.namespace === null ? (
                    <Plain text={link.executionId} />
                  ) : (
                    <a
                      class="link"
                      target="_blank"
                      rel="noopener noreferrer"
                      href={`${known.temporalUi}/namespaces/${encodeURIComponent(known.namespace)}/workflows/${encodeURIComponent(run.id)}/${encodeURIComponent(link.executionId)}`}
                    >
                      <Plain text={link.executionId} />
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface Served {
  attempts: number;
  lost: number;
  last: number;
}

/** Who worked on calls of the run, and until when. */
function Workers({ attempts }: { readonly attempts: readonly AttemptView[] }): JSX.Element | null {
  const served = new Map<string, Served>();
  for (const { worker, outcome, scheduledAt, startedAt, endedAt } of attempts) {
    if (worker === undefined) continue;
    const known = served.get(worker) ?? { attempts: 0, lost: 0, last: 0 };
    known.attempts += 1;
    if (outcome === 'lost') known.lost += 1;
    known.last = Math.max(known.last, endedAt ?? startedAt ?? scheduledAt);
    served.set(worker, known);
  }
  if (served.size === 0) return null;
  return (
    <section class="card" aria-label="Workers">
      <header class="card-head">
        <h2>Workers that served it</h2>
        <span class="end">{served.size}</span>
      </header>
      <table class="table">
        <thead>
          <tr>
            <th>Worker</th>
            <th class="num narrow-column">Attempts</th>
            <th class="num narrow-column">Lost</th>
            <th class="num optional">Last</th>
          </tr>
        </thead>
        <tbody>
          {[...served].map(([worker, { attempts: count, lost, last }]) => (
            <tr key={worker}>
              <td class="mono">
                <Identity worker={worker} />
              </td>
              <td class="num">{numberText(count)}</td>
              <td class={lost > 0 ? 'num tone-bad' : 'num muted'}>{numberText(lost)}</td>
              <td class="num optional">{clockText(last)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Calls that were tried again: what was lost or refused, when, and who went on. */
function Retries({
  attempts,
  run,
}: {
  readonly attempts: readonly AttemptView[];
  readonly run: RunModel;
}): JSX.Element {
  const again = attempts.filter(({ outcome }) => outcome !== undefined);
  const failures = run.views.value.flatMap(({ number, models }) =>
    models.flatMap((call) => call.failures.map((failure) => ({ number, call, failure }))),
  );
  const total = again.length + failures.length;
  return (
    <section class="card" aria-label="Retries">
      <header class="card-head">
        <h2>Retries by cause</h2>
        <span class="end">
          {causesText([
            ...again.map(({ reason = 'lost' }) => reason.replace(/^activity\s+/i, '')),
            ...failures.map(() => 'the provider'),
          ])}
        </span>
      </header>
      {total === 0 ? (
        <p class="card-body muted">No attempt was lost, and none failed.</p>
      ) : (
        <table class="table wrapping">
          <thead>
            <tr>
              <th class="narrow-column">Iteration</th>
              <th class="narrow-column optional">Call</th>
              <th>What happened</th>
            </tr>
          </thead>
          <tbody>
            {again.map((attempt) => (
              <tr key={`${attempt.work} ${attempt.callId ?? ''} ${attempt.scheduledAt}`}>
                <td>
                  <IterationLink number={attempt.iteration} />
                </td>
                <td class="mono optional">{attempt.callId ?? attempt.work}</td>
                <td>
                  <Plain text={attemptText(attempts, attempt)} />
                </td>
              </tr>
            ))}
            {failures.map(({ number, call, failure }) => (
              <tr key={`${call.seq} ${failure.attempt}`}>
                <td>
                  <IterationLink number={number} />
                </td>
                <td class="mono optional">model</td>
                <td>
                  <Plain
                    text={`Attempt ${failure.attempt} of ${call.model} failed: ${failure.message} Tried again after ${durationText(failure.retryInMs)}.`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** `2 heartbeat timeout, 1 the provider`; the most frequent first. */
function causesText(causes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const cause of causes) {
    const name = cause.toLowerCase();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_CAUSES)
    .map(([name, count]) => `${numberText(count)} ${oneLine(name, 40)}`)
    .join(' · ');
}

const MAX_CAUSES = 3;

function attemptText(attempts: readonly AttemptView[], attempt: AttemptView): string {
  const { iteration, callId, outcome, reason = 'it says no reason' } = attempt;
  if (outcome === 'failed') return `Attempt ${attempt.attempt} failed: ${reason}`;
  const place = { iteration, from: attempt.scheduledAt, ...defined({ callId }) };
  const rest = attemptsOf(attempts, place).filter(({ attempt: one }) => one > attempt.attempt);
  const lost = lostTimeOf([attempt, ...rest.slice(0, 1).map((next) => withoutOutcome(next))]);
  return lost === null ? reason : lossText(lost, clockText);
}

/** An attempt as the one that went on, however it ended itself. */
function withoutOutcome({ outcome: _outcome, ...attempt }: AttemptView): AttemptView {
  return attempt;
}

function IterationLink({ number }: { readonly number: number }): JSX.Element {
  return (
    <button
      type="button"
      class="text-button"
      onClick={() => setQuery({ tab: null, iteration: String(number) }, true)}
    >
      {numberText(number)}
    </button>
  );
}
