/** Everything that waits for people: the list, and the open item beside it. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { bindViewKeys } from '../base/keys.ts';
import { hrefOf, query, setQuery } from '../base/route.ts';
import { Dot, Failure, Skeleton } from '../parts/marks.tsx';
import { Since } from '../parts/times.tsx';
import { oneLine, Plain } from '../parts/words.tsx';
import { inbox, inboxFailure, keyOf, loadInbox, settledElsewhere } from './inbox-state.ts';
import { WholeItem } from './whole-item.tsx';

/** The page of what waits. */
export function InboxPage(): JSX.Element {
  const items = inbox.value?.items ?? null;
  const wanted = query.value.get('item');
  const place = Math.max(0, items?.findIndex((row) => keyOf(row) === wanted) ?? 0);
  const open = items?.[place];
  useEffect(() => {
    const move = (by: number): void => {
      const all = inbox.value?.items ?? [];
      const at = all.findIndex((row) => keyOf(row) === query.value.get('item'));
      const next = all[Math.max(0, Math.min(all.length - 1, Math.max(0, at) + by))];
      if (next !== undefined) setQuery({ item: keyOf(next) });
    };
    return bindViewKeys([
      { key: 'j', text: 'Next item', run: () => move(1) },
      { key: 'k', text: 'Item before', run: () => move(-1) },
    ]);
  }, []);
  const shown = useRef<string | null>(null);
  const looked = wanted ?? shown.current;
  const answeredElsewhere = looked !== null && settledElsewhere.value.has(looked);
  // The item that was open, until somebody moves on.
  if (!answeredElsewhere) shown.current = open === undefined ? null : keyOf(open);
  const showNext = (): void => {
    const rest = (inbox.value?.items ?? []).filter((row) => row !== open);
    const next = rest[place] ?? rest.at(-1);
    setQuery({ item: next === undefined ? null : keyOf(next) });
  };
  return (
    <>
      <header class="title">
        <h1>Inbox</h1>
        <span class="muted" role="status">
          {items === null ? '' : waitingText(items.length, inbox.value?.more ?? 0)}
        </span>
      </header>
      <Failure error={inboxFailure.value} again={() => void loadInbox()} />
      {answeredElsewhere ? (
        <p class="notice" role="status">
          That item was answered elsewhere.
        </p>
      ) : null}
      {items === null ? (
        <section class="card">
          <Skeleton />
        </section>
      ) : items.length === 0 ? (
        <section class="card empty">
          <p>Nothing waits for a person.</p>
          <p>Questions, approvals and outside work of all runs come here.</p>
        </section>
      ) : (
        <div class="inbox">
          <List items={items} open={open} />
          {open === undefined ? null : (
            <section class="card" aria-label="Open item">
              <header class="card-head">
                <h2 class="mono">
                  <Plain text={open.agent} />
                </h2>
                <a class="link end" href={hrefOf({ page: 'run', id: open.run })}>
                  Open the run
                </a>
              </header>
              <p class="task-line muted">
                <Plain text={oneLine(open.task, 300)} />
              </p>
              <WholeItem key={keyOf(open)} row={open} hasKeys onDone={showNext} />
            </section>
          )}
        </div>
      )}
      <Silent ids={inbox.value?.silent ?? []} />
    </>
  );
}

function List({
  items,
  open,
}: {
  readonly items: readonly InboxRow[];
  readonly open: InboxRow | undefined;
}): JSX.Element {
  return (
    <nav class="card inbox-list" aria-label="Waiting">
      {items.map((row) => (
        <a
          key={keyOf(row)}
          href={hrefOf({ page: 'inbox' }, { item: keyOf(row) })}
          aria-current={row === open ? 'true' : undefined}
        >
          <span class="row">
            <Dot state={row.item.kind} />
            <span class="strong clip">
              <Plain text={headline(row)} />
            </span>
            <span class="muted right">
              <Since at={row.item.since} />
            </span>
          </span>
          <span class="muted clip">
            <span class="mono">
              <Plain text={row.agent} />
            </span>{' '}
            <Plain text={oneLine(row.task, 90)} />
          </span>
        </a>
      ))}
    </nav>
  );
}

function waitingText(shown: number, more: number): string {
  if (more > 0) return `${shown} waiting · ${more} more left out`;
  return shown === 0 ? 'nothing waits' : `${shown} waiting`;
}

function headline({ item }: InboxRow): string {
  if (item.kind === 'question') return oneLine(item.question, 80);
  if (item.kind === 'pause') return 'paused';
  const verb = item.kind === 'approval' ? 'approve' : 'finish';
  return `${verb} ${item.tool} ${oneLine(JSON.stringify(item.args), 80)}`;
}

function Silent({ ids }: { readonly ids: readonly string[] }): JSX.Element | null {
  if (ids.length === 0) return null;
  return (
    <section class="card" aria-label="Silent runs">
      <header class="card-head">
        <h2>Silent</h2>
        <span class="end">{ids.length}</span>
      </header>
      <div class="card-body">
        <p class="muted">
          These runs wait for a person, but no worker answers to say for what. They wait and lose
          nothing. Start a worker with <code>everloop worker</code>.
        </p>
        <ul class="plain-list">
          {ids.map((id) => (
            <li key={id}>
              <a class="link mono" href={hrefOf({ page: 'run', id })}>
                <Plain text={id} />
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
