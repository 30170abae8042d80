/** The schedules: when each starts runs, how its last run ended, and what can be done with it. */
import type { JSX } from 'preact';
import type { ScheduleAnswer, SchedulesAnswer } from '../../api-schedules.ts';
import {
  heldText,
  inText,
  rulesText,
  scheduleState,
  startsText,
  whenText,
  type ScheduleRow,
} from '../../view/schedules.ts';
import { now } from '../base/clock.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf } from '../base/route.ts';
import { Failure, Pill, Skeleton } from '../parts/marks.tsx';
import { Fact } from '../parts/rows.tsx';
import { Ago, exactTime, isToday } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { lineOfSchedule } from '../runs/filter.ts';
import { ScheduleActions } from './schedule-actions.tsx';

/** The list asks the service for each schedule. */
const EVERY_MS = 15_000;

/** The page of all schedules. */
export function SchedulesPage(): JSX.Element {
  const { data, error, load } = useResource<SchedulesAnswer>('/schedules', EVERY_MS);
  const answer = data.value;
  return (
    <>
      <header class="title">
        <h1>Schedules</h1>
        <span class="muted">{answer === null ? '' : countText(answer)}</span>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {answer === null ? (
        error.value === null ? (
          <Skeleton />
        ) : null
      ) : answer.schedules.length + answer.unread.length === 0 ? (
        <section class="card empty">
          <p>No schedule starts runs of agents.</p>
          <pre class="code">everloop schedule create nightly clerk 'Do it' --cron '0 6 * * *'</pre>
        </section>
      ) : (
        <>
          {answer.schedules.map((schedule) => (
            <ScheduleCard key={schedule.id} schedule={schedule} onDone={() => void load()} />
          ))}
          {answer.unread.map(({ id, problem }) => (
            <section key={id} class="card" aria-label={`Schedule ${oneLine(id, 80)}`}>
              <h2 class="mono">
                <Plain text={id} />
              </h2>
              <p class="tone-bad">
                <Plain text={problem} />
              </p>
            </section>
          ))}
        </>
      )}
    </>
  );
}

function countText({ schedules, hasMore }: SchedulesAnswer): string {
  return hasMore ? `the newest ${schedules.length}` : `${schedules.length} in all`;
}

function ScheduleCard({
  schedule,
  onDone,
}: {
  readonly schedule: ScheduleRow;
  readonly onDone: () => void;
}): JSX.Element {
  const { id, agent, task, paused, note, next, last } = schedule;
  const [first] = next;
  return (
    <section class="card" aria-label={`Schedule ${oneLine(id, 80)}`}>
      <header class="card-head">
        <h2 class="mono">
          <Plain text={id} />
        </h2>
        <Pill state={scheduleState(schedule)} />
        {paused && note !== null ? (
          <span class="muted">
            <Plain text={oneLine(note)} />
          </span>
        ) : null}
        <ScheduleActions schedule={schedule} onDone={onDone} />
      </header>
      <Held schedule={schedule} />
      <dl class="facts">
        <Fact name="Agent">
          <a class="link mono" href={hrefOf({ page: 'agent', name: agent })}>
            <Plain text={agent} />
          </a>
        </Fact>
        <Fact name="When">
          <span class="mono">
            <Plain text={oneLine(whenText(schedule))} />
          </span>
        </Fact>
        <Fact name={paused ? 'Next, which passes' : 'Next'}>
          {first === undefined ? (
            'never'
          ) : (
            <span title={next.map(exactTime).join(', ')}>
              {inText(first, now.value)}, {exactTime(first)}
            </span>
          )}
        </Fact>
        <Fact name="Last run">
          {last === null ? (
            'none'
          ) : (
            <>
              {last.state === null ? null : <Pill state={last.state} />}{' '}
              <a class="link" href={hrefOf({ page: 'run', id: last.run })}>
                due <Ago at={last.at} />
                {isToday(last.at) ? ' ago' : ''}
              </a>
            </>
          )}
        </Fact>
        <Fact name="While a run goes on">{rulesText(schedule)}</Fact>
        <Fact name="Starts">
          <a class="link" href={hrefOf({ page: 'runs' }, { q: lineOfSchedule(id) })}>
            {startsText(schedule)}
          </a>
        </Fact>
        {task === '' ? null : (
          <Fact name="Task">
            <Plain text={oneLine(task)} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** The run on account of which starts are skipped; asked for only where there may be one. */
function Held({ schedule }: { readonly schedule: ScheduleRow }): JSX.Element | null {
  const { id, overlap, skipped, running } = schedule;
  const mayBeHeld = overlap === 'skip' && skipped > 0 && running.length > 0;
  const path = mayBeHeld ? `/schedules/${encodeURIComponent(id)}` : null;
  const heldBy = useResource<ScheduleAnswer>(path).data.value?.heldBy ?? null;
  if (heldBy === null || !mayBeHeld) return null;
  return (
    <p class="notice wait" role="status">
      <span>{heldText(heldBy, now.value)}</span>
      <a class="link" href={hrefOf({ page: 'run', id: heldBy.run })}>
        Open the run
      </a>
    </p>
  );
}
