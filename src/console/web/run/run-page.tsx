/** One run: a header that stays, and tabs below it. */
import type { FunctionComponent, JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { RequestFailed } from '../base/api.ts';
import { bindViewKeys } from '../base/keys.ts';
import { go, hrefOf, query, setQuery } from '../base/route.ts';
import { center } from '../parts/center.ts';
import { Failure, Skeleton } from '../parts/marks.tsx';
import { Plain } from '../parts/words.tsx';
import { lazy } from '../parts/lazy.tsx';
import type { ConversationProps } from './conversation.tsx';
import { Overview } from './overview.tsx';
import { openNeighbour } from './neighbours.ts';
import { rootOf } from './root-of.ts';
import { RunHead } from './run-head.tsx';
import { RunModel } from './run-state.ts';
import { Timeline } from './timeline.tsx';
import { Transcript } from './transcript.tsx';

type TabPart = FunctionComponent<{ readonly run: RunModel }>;

const Conversation: FunctionComponent<ConversationProps> = lazy(
  async () => (await import('./conversation.tsx')).Conversation,
);
const EventsTab: TabPart = lazy(async () => (await import('./events-tab.tsx')).EventsTab);
const HealthTab: TabPart = lazy(async () => (await import('./health-tab.tsx')).HealthTab);
const ProgramTab: TabPart = lazy(async () => (await import('./program-tab.tsx')).ProgramTab);
const PromptTab: TabPart = lazy(async () => (await import('./prompt-tab.tsx')).PromptTab);
const RawTab: TabPart = lazy(async () => (await import('./raw-tab.tsx')).RawTab);
const TreeTab: TabPart = lazy(async () => (await import('./tree-tab.tsx')).TreeTab);

const TABS = [
  'transcript',
  'timeline',
  'program',
  'tree',
  'events',
  'prompt',
  'health',
  'raw',
] as const;

type Tab = (typeof TABS)[number];

/** The page of run `id`. */
export function RunPage({ id }: { readonly id: string }): JSX.Element {
  const run = useMemo(() => new RunModel(id), [id]);
  useEffect(() => {
    void run.start();
    return () => run.stop();
  }, [run]);
  useEffect(
    () =>
      bindViewKeys([
        ...TABS.map((tab, index) => ({
          key: String(index + 1),
          text: nameOf(tab),
          run: () => open(tab),
        })),
        {
          key: 'P',
          text: 'The run above',
          run: () => {
            const parent = run.header.value?.parent;
            if (parent != null) go(hrefOf({ page: 'run', id: parent }));
          },
        },
        {
          key: 'T',
          text: 'The top of the tree',
          run: () => {
            const root = rootOf(id);
            if (root !== id) go(hrefOf({ page: 'run', id: root }));
          },
        },
        { key: '[', text: 'The run before, beside it', run: () => void openNeighbour(run, -1) },
        { key: ']', text: 'The next run, beside it', run: () => void openNeighbour(run, 1) },
        { key: 'Escape', text: 'Close what is open, then back to the list', run: closeOrLeave },
      ]),
    [run],
  );
  const header = run.header.value;
  const failure = run.failure.value;
  const tab = tabOf(query.value.get('tab'));
  useEffect(() => center('.tabs', '[aria-selected=true]'), [tab, header === null]);
  if (header === null && failure !== null) return <Missing run={run} />;
  return (
    <>
      <RunHead run={run} />
      {failure?.code === 'run_not_found' ? (
        <p class="notice" role="alert">
          {missingText(failure)}
        </p>
      ) : null}
      <div
        class="tabs"
        role="tablist"
        aria-label="Parts of the run"
        onKeyDown={(event) => {
          const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
          if (by === 0) return;
          const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length] ?? 'transcript';
          open(next);
          document.getElementById(`tab-${next}`)?.focus();
        }}
      >
        {TABS.map((each) => (
          <button
            key={each}
            id={`tab-${each}`}
            type="button"
            role="tab"
            aria-selected={each === tab}
            aria-controls="tab-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => open(each)}
          >
            {nameOf(each)}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Failure error={run.viewsFailure.value} again={() => void run.start()} />
        {run.isLoaded.value ? <Panel tab={tab} run={run} /> : <Skeleton lines={8} />}
      </div>
    </>
  );
}

function open(tab: Tab): void {
  setQuery({ tab: tab === 'transcript' ? null : tab });
}

/** Closes the open call, iteration or event; without one, leads back to the list. */
function closeOrLeave(): void {
  const open = ['span', 'iteration', 'event'];
  if (open.some((name) => query.value.has(name))) {
    setQuery(Object.fromEntries(open.map((name) => [name, null])));
  } else go(hrefOf({ page: 'runs' }));
}

function tabOf(value: string | null): Tab {
  return TABS.find((tab) => tab === value) ?? 'transcript';
}

function nameOf(tab: Tab): string {
  return tab.charAt(0).toUpperCase() + tab.slice(1);
}

function Panel({ tab, run }: { readonly tab: Tab; readonly run: RunModel }): JSX.Element {
  switch (tab) {
    case 'transcript':
      return (
        <>
          <ConversationCard run={run} />
          <Overview run={run} />
          <Timeline run={run} isFoldable />
          <Transcript run={run} />
        </>
      );
    case 'timeline':
      return (
        <>
          <Overview run={run} />
          <Timeline run={run} isTall />
        </>
      );
    case 'program':
      return <ProgramTab run={run} />;
    case 'tree':
      return <TreeTab run={run} />;
    case 'events':
      return <EventsTab run={run} />;
    case 'prompt':
      return <PromptTab run={run} />;
    case 'health':
      return <HealthTab run={run} />;
    case 'raw':
      return <RawTab run={run} />;
  }
}

function ConversationCard({ run }: { readonly run: RunModel }): JSX.Element | null {
  const header = run.header.value;
  if (header?.conversation === undefined) return null;
  const { id, tenant } = header.conversation;
  return (
    <section class="card" aria-label="Turns">
      <div class="card-body">
        <Conversation
          id={id}
          agent={header.agent}
          {...(tenant === undefined ? {} : { tenant })}
          run={run.id}
          header={header}
          onSaid={() => void run.loadHeader()}
        />
      </div>
    </section>
  );
}

function Missing({ run }: { readonly run: RunModel }): JSX.Element {
  const failure = run.failure.value;
  const words = failure === null ? '' : missingText(failure);
  return (
    <section class="card empty">
      <h1>This run cannot be shown</h1>
      <p class="mono">
        <Plain text={run.id} />
      </p>
      <p>{words}</p>
      <div class="acts">
        <button type="button" class="btn" onClick={() => void run.start()}>
          Try again
        </button>
        <a class="btn" href={hrefOf({ page: 'runs' })}>
          All runs
        </a>
      </div>
    </section>
  );
}

function missingText({ code, message }: RequestFailed): string {
  return code === 'run_not_found'
    ? 'The service does not know this run. It may have been deleted after its retention time.'
    : message;
}
