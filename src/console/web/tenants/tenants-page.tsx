/** The tenants: runs now, what is spent today, what waits, and what is set for each. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import type { TenantsAnswer } from '../../api-tenants.ts';
import {
  barsOfDay,
  dayText,
  runsText,
  spentText,
  waitsText,
  type TenantRow,
} from '../../view/tenants.ts';
import { now } from '../base/clock.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { useResource } from '../base/resource.ts';
import { hrefOf, query, setQuery } from '../base/route.ts';
import { lazyDialog } from '../parts/lazy.tsx';
import { Bar, Failure, Pill, Skeleton } from '../parts/marks.tsx';
import { Fact } from '../parts/rows.tsx';
import { Plain, Said } from '../parts/words.tsx';
import type { TenantDialogProps } from './tenant-dialog.tsx';

const TenantDialog: FunctionComponent<TenantDialogProps> = lazyDialog(
  async () => (await import('./tenant-dialog.tsx')).TenantDialog,
);

/** Each tenant is asked how it stands. */
const EVERY_MS = 10_000;

/** Tenants of a page. */
const PAGE = 50;

/** The page of all tenants that something is set for. */
export function TenantsPage(): JSX.Element {
  const q = query.value.get('q') ?? '';
  const from = Math.max(0, Number(query.value.get('from') ?? 0) || 0);
  const search = new URLSearchParams({ q, from: String(from) }).toString();
  const { data, error, load } = useResource<TenantsAnswer>(`/tenants?${search}`, EVERY_MS);
  const shown = useSignal<TenantRow | 'new' | null>(null);
  const answer = data.value;
  return (
    <>
      <header class="title">
        <h1>Tenants</h1>
        <span class="muted">{answer === null ? '' : `${answer.total} with settings`}</span>
        <div class="acts">
          {mayAct.value ? (
            <button
              type="button"
              class="btn primary"
              disabled={!canAct.value}
              onClick={() => (shown.value = 'new')}
            >
              Set a tenant
            </button>
          ) : null}
        </div>
      </header>
      <div class="filters">
        <input
          type="search"
          aria-label="Filter tenants"
          placeholder="A part of the name"
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value, from: null })}
        />
      </div>
      <Failure error={error.value} again={() => void load()} />
      <Silent answer={answer} />
      {answer === null ? (
        error.value === null ? (
          <Skeleton />
        ) : null
      ) : answer.tenants.length === 0 ? (
        <section class="card empty">
          <p>{q === '' ? 'Nothing is set for any tenant.' : 'No tenant has such a name.'}</p>
          <pre class="code">everloop tenants set acme --concurrency 20 --per-day costUsd=50</pre>
        </section>
      ) : (
        answer.tenants.map((row) => (
          <TenantCard key={row.tenant} row={row} onSet={() => (shown.value = row)} />
        ))
      )}
      <Pages total={answer?.total ?? 0} from={from} />
      {shown.value === null ? null : (
        <TenantDialog
          row={shown.value === 'new' ? null : shown.value}
          onClose={() => {
            shown.value = null;
            void load();
          }}
        />
      )}
    </>
  );
}

/** Why some tenants do not say how they stand. */
function Silent({ answer }: { readonly answer: TenantsAnswer | null }): JSX.Element | null {
  const [first, ...others] = answer?.partial ?? [];
  if (first === undefined) return null;
  return (
    <p class="notice wait" role="status">
      <span>
        <Said text={first.message} />
        {others.length === 0 ? '' : ` The same holds for ${others.length} more.`}
      </span>
    </p>
  );
}

function TenantCard({
  row,
  onSet,
}: {
  readonly row: TenantRow;
  readonly onSet: () => void;
}): JSX.Element {
  const { tenant, weight = 1, standing } = row;
  const isWaiting = standing !== null && standing.waits + standing.short > 0;
  return (
    <section class="card" aria-label={`Tenant ${tenant}`}>
      <header class="card-head">
        <h2 class="mono">
          <Plain text={tenant} />
        </h2>
        {standing === null ? <Pill state="silent" /> : null}
        {isWaiting ? <Pill state="waiting">runs wait</Pill> : null}
        <span class="acts end">
          <a class="btn small" href={hrefOf({ page: 'runs' }, { q: `tenant:${tenant}` })}>
            Runs
          </a>
          {mayAct.value ? (
            <button type="button" class="btn small" disabled={!canAct.value} onClick={onSet}>
              Set
            </button>
          ) : null}
        </span>
      </header>
      <dl class="facts">
        <Fact name="Runs now">{runsText(row)}</Fact>
        {standing === null ? null : (
          <Fact name="Runs that wait">
            <span title={standing.waiting.join(', ')}>{waitsText(standing)}</span>
          </Fact>
        )}
        <Fact name="Day">
          <Plain text={dayText(row, now.value)} />
        </Fact>
        <Fact name="Share of a busy queue">{weight}</Fact>
        {(standing === null ? [] : barsOfDay(standing)).map((bar) => (
          <Fact key={bar.key} name={`${bar.label} today`}>
            {spentText(bar)}
            <Bar bar={bar} />
          </Fact>
        ))}
      </dl>
    </section>
  );
}

function Pages({
  total,
  from,
}: {
  readonly total: number;
  readonly from: number;
}): JSX.Element | null {
  if (total <= PAGE && from === 0) return null;
  const open = (at: number): void => setQuery({ from: at <= 0 ? null : String(at) }, true);
  return (
    <div class="acts">
      <button type="button" class="btn" disabled={from === 0} onClick={() => open(from - PAGE)}>
        Before
      </button>
      <button
        type="button"
        class="btn"
        disabled={from + PAGE >= total}
        onClick={() => open(from + PAGE)}
      >
        Next
      </button>
    </div>
  );
}
