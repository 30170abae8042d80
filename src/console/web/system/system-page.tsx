/** Server, workers, settings of this browser. */
import type { JSX } from 'preact';
import type { AgentsAnswer, SetupAnswer, WorkersAnswer } from '../../api.ts';
import { meta } from '../base/connection.ts';
import { liveMode } from '../base/live.ts';
import { useResource } from '../base/resource.ts';
import { hasSingleKeys, setSingleKeys, setTheme, theme, type Theme } from '../base/session.ts';
import { Failure, Pill, Skeleton } from '../parts/marks.tsx';
import { Fact } from '../parts/rows.tsx';
import { now } from '../base/clock.ts';
import { Ago } from '../parts/times.tsx';
import { Plain } from '../parts/words.tsx';

/** A worker that has not polled for so long is probably gone. */
const LOST_AFTER_MS = 90_000;

/** The page about the system. */
export function SystemPage(): JSX.Element {
  return (
    <>
      <header class="title">
        <h1>System</h1>
      </header>
      <Server />
      <Workers />
      <Settings />
    </>
  );
}

function Server(): JSX.Element {
  const known = meta.value;
  const { data } = useResource<SetupAnswer>('/setup', 60_000);
  if (known === null) return <Skeleton lines={3} />;
  const { version, address, namespace, temporalUi, role, user, abilities } = known;
  return (
    <section class="card" aria-label="Server">
      <header class="card-head">
        <h2>Server</h2>
      </header>
      <dl class="facts">
        <Fact name="Everloop">{version}</Fact>
        <Fact name="Temporal">{address ?? 'unknown'}</Fact>
        <Fact name="Namespace">{namespace ?? 'unknown'}</Fact>
        <Fact name="Role">
          {role === 'read' ? 'may look' : 'may act'}
          {user === null ? '' : `, as ${user}`}
        </Fact>
        <Fact name="Events">
          {abilities.events === 'pushed' ? 'pushed by workers' : 'asked for by the console'}
        </Fact>
        <Fact name="This tab">{liveMode.value}</Fact>
        {data.value === null ? null : <Setup {...data.value} />}
        {temporalUi === null ? null : (
          <Fact name="Temporal’s own UI">
            <a class="link" href={temporalUi} target="_blank" rel="noopener noreferrer">
              {temporalUi}
            </a>
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** What lists and encryption need. */
function Setup({ lackingAttributes, keys }: SetupAnswer): JSX.Element {
  return (
    <>
      <Fact name="Search attributes">
        {lackingAttributes === null ? (
          'the service does not say'
        ) : lackingAttributes.length === 0 ? (
          'there'
        ) : (
          <>
            Lists lack {lackingAttributes.join(' and ')}. Run <code>everloop setup</code>.
          </>
        )}
      </Fact>
      <Fact name="Keys">{keys === null ? 'none' : <Plain text={keys.join(', ')} />}</Fact>
    </>
  );
}

function Workers(): JSX.Element {
  const { data, error, load } = useResource<WorkersAnswer>('/workers', 5_000);
  const workers = data.value?.workers;
  return (
    <section class="card" aria-label="Workers">
      <header class="card-head">
        <h2>Workers</h2>
        <span class="end">{workers === undefined ? '' : `${workers.length} listed`}</span>
      </header>
      <Failure error={error.value} again={() => void load()} />
      {workers === undefined ? (
        error.value === null ? (
          <Skeleton lines={2} />
        ) : null
      ) : workers.length === 0 ? (
        <NoWorkers taskQueue={data.value?.taskQueue ?? null} />
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th>Worker</th>
              <th>Task queue</th>
              <th class="optional">Build</th>
              <th class="num">Last contact</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ identity, taskQueue, build, lastContact }) => (
              <tr key={`${identity} ${taskQueue}`}>
                <td class="mono">
                  <Plain text={identity} />
                </td>
                <td class="mono">
                  <Plain text={taskQueue} />
                </td>
                <td class="mono optional">{build ?? ''}</td>
                <td class="num">
                  {now.value - lastContact > LOST_AFTER_MS ? <Pill state="silent" /> : null}{' '}
                  <Ago at={lastContact} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Agents say where workers are that take runs from other task queues. */
function NoWorkers({ taskQueue }: Pick<WorkersAnswer, 'taskQueue'>): JSX.Element {
  const { data } = useResource<AgentsAnswer>('/agents');
  const queues = (data.value?.agents ?? []).flatMap(({ elsewhere }) => elsewhere ?? []);
  const others = [...new Set(queues)].toSorted();
  return (
    <p class="empty">
      No worker takes runs from{' '}
      {taskQueue === null ? (
        'the task queue of this console'
      ) : (
        <>
          the task queue <Plain text={taskQueue} />, on which this console starts them
        </>
      )}
      .{' '}
      {others.length === 0 ? (
        <>
          Runs wait and lose nothing. Start one with <code>everloop worker</code>.
        </>
      ) : (
        <>
          Workers take runs from <Plain text={others.join(', ')} />. Start the console with{' '}
          <code>EVERLOOP_TASK_QUEUE</code> to start runs there.
        </>
      )}
    </p>
  );
}

function Settings(): JSX.Element {
  return (
    <section class="card" aria-label="Settings of this browser">
      <header class="card-head">
        <h2>This browser</h2>
      </header>
      <div class="card-body">
        <div class="field narrow">
          <label for="theme">Theme</label>
          <select
            id="theme"
            value={theme.value}
            onChange={(event) => setTheme(event.currentTarget.value as Theme)}
          >
            <option value="auto">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </div>
        <label class="row">
          <input
            type="checkbox"
            checked={hasSingleKeys.value}
            onChange={(event) => setSingleKeys(event.currentTarget.checked)}
          />
          Single keys act. Press <kbd>?</kbd> for the list.
        </label>
      </div>
    </section>
  );
}
