/** The frame of all pages: rail, keys, what is open. */
import { effect, signal, type Signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InboxAnswer, MetaAnswer } from '../api.ts';
import { toast } from './base/actions.ts';
import { get, RequestFailed } from './base/api.ts';
import { setServerTime } from './base/clock.ts';
import { isOffline, mayAct, meta } from './base/connection.ts';
import { bindViewKeys } from './base/keys.ts';
import { listen } from './base/live.ts';
import { go, hrefOf, page, type ConsolePage } from './base/route.ts';
import { setTheme, theme, type Theme } from './base/session.ts';
import { lazy, lazyDialog } from './parts/lazy.tsx';
import { center } from './parts/center.ts';
import { Icon } from './parts/marks.tsx';
import { inbox, loadInbox, takeInboxFrames } from './people/inbox-state.ts';
import { NeedsToken } from './system/needs-token.tsx';
import { RunsPage } from './runs/runs-page.tsx';

const RunPage: FunctionComponent<{ readonly id: string }> = lazy(
  async () => (await import('./run/run-page.tsx')).RunPage,
);
const InboxPage: FunctionComponent = lazy(
  async () => (await import('./people/inbox-page.tsx')).InboxPage,
);
const AgentPage: FunctionComponent<{ readonly name: string }> = lazy(
  async () => (await import('./agents/agent-page.tsx')).AgentPage,
);
const AgentsPage: FunctionComponent = lazy(
  async () => (await import('./agents/agents-page.tsx')).AgentsPage,
);
const TenantsPage: FunctionComponent = lazy(
  async () => (await import('./tenants/tenants-page.tsx')).TenantsPage,
);
const DiffPage: FunctionComponent = lazy(
  async () => (await import('./diff/diff-page.tsx')).DiffPage,
);
const KeyList: FunctionComponent<{ readonly onClose: () => void }> = lazyDialog(
  async () => (await import('./system/key-list.tsx')).KeyList,
);
const Palette: FunctionComponent<{ readonly onClose: () => void }> = lazyDialog(
  async () => (await import('./system/palette.tsx')).Palette,
);
const SchedulesPage: FunctionComponent = lazy(
  async () => (await import('./schedules/schedules-page.tsx')).SchedulesPage,
);
const SystemPage: FunctionComponent = lazy(
  async () => (await import('./system/system-page.tsx')).SystemPage,
);

/** A dialog of the frame; null: none is open. */
const shown: Signal<'keys' | 'palette' | null> = signal(null);
const needsToken: Signal<boolean> = signal(false);

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto';
}

const LINKS: readonly (readonly [name: string, target: ConsolePage])[] = [
  ['Runs', { page: 'runs' }],
  ['Inbox', { page: 'inbox' }],
  ['Agents', { page: 'agents' }],
  ['Schedules', { page: 'schedules' }],
  ['Tenants', { page: 'tenants' }],
  ['System', { page: 'system' }],
];

/** The whole console. */
export function App(): JSX.Element {
  useEffect(() => {
    void loadMeta();
    void loadInbox();
    const stops = [
      listen({ inbox: true }, (frames) => {
        if (frames === null) void loadInbox();
        else takeInboxFrames(frames);
      }),
      bindViewKeys(frameKeys),
      effect(showTitle),
    ];
    const retry = setInterval(() => {
      if (isOffline.value) void loadMeta();
    }, 2_000);
    return () => {
      clearInterval(retry);
      for (const stop of stops) stop();
    };
  }, []);
  if (needsToken.value) return <NeedsToken onKey={loadMeta} />;
  return (
    <div class="app">
      <Rail />
      <div class="content">
        {isOffline.value ? (
          <div class="offline" role="alert">
            The console does not answer. What you see may be old; it is asked again every two
            seconds.
            <button type="button" class="btn small" onClick={() => void loadMeta()}>
              Ask now
            </button>
          </div>
        ) : null}
        <main>
          <Open />
        </main>
      </div>
      {shown.value === 'keys' ? <KeyList onClose={close} /> : null}
      {shown.value === 'palette' ? <Palette onClose={close} /> : null}
      <div aria-live="polite">
        {toast.value === '' ? null : <div class="toast">{toast.value}</div>}
      </div>
    </div>
  );
}

function close(): void {
  shown.value = null;
}

function Open(): JSX.Element {
  const open = page.value;
  switch (open.page) {
    case 'runs':
      return <RunsPage />;
    case 'run':
      return <RunPage key={open.id} id={open.id} />;
    case 'inbox':
      return <InboxPage />;
    case 'agents':
      return <AgentsPage />;
    case 'agent':
      return <AgentPage key={open.name} name={open.name} />;
    case 'schedules':
      return <SchedulesPage />;
    case 'diff':
      return <DiffPage />;
    case 'tenants':
      return <TenantsPage />;
    case 'system':
      return <SystemPage />;
    case 'unknown':
      return (
        <div class="empty">
          <h1>There is no such page</h1>
          <a class="link" href={hrefOf({ page: 'runs' })}>
            All runs
          </a>
        </div>
      );
  }
}

function Rail(): JSX.Element {
  const open = page.value.page;
  const waiting = inbox.value?.items.length ?? 0;
  useEffect(() => center('.rail', '[aria-current]'), [open]);
  return (
    <nav class="rail" aria-label="Main">
      <a class="brand" href={hrefOf({ page: 'runs' })} aria-label="Everloop">
        ∞
      </a>
      {LINKS.map(([name, target]) => (
        <a
          key={name}
          href={hrefOf(target)}
          aria-current={isWithin(open, target.page) ? 'page' : undefined}
        >
          {name}
          {target.page === 'inbox' && waiting > 0 ? (
            <span class="badge">
              {waiting}
              <span class="sr"> waiting</span>
            </span>
          ) : null}
        </a>
      ))}
      <div class="foot">
        <button
          type="button"
          class="btn quiet small words"
          onClick={() => (shown.value = 'palette')}
        >
          <Icon name="search" /> Find <kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        <button
          type="button"
          class="btn quiet small"
          aria-label={`Theme: ${theme.value}. Change to ${nextTheme()}`}
          onClick={() => setTheme(nextTheme())}
        >
          <Icon name="theme" /> <span class="words">{theme.value}</span>
        </button>
        {mayAct.value ? null : (
          <span class="tag" title="Your token may look, and not act.">
            read only
          </span>
        )}
        <span class="version">
          {[meta.value?.version, meta.value?.namespace].filter(Boolean).join(' · ')}
        </span>
      </div>
    </nav>
  );
}

function isWithin(open: ConsolePage['page'], link: ConsolePage['page']): boolean {
  if (open === 'run' || open === 'diff') return link === 'runs';
  return open === 'agent' ? link === 'agents' : open === link;
}

const frameKeys = [
  { key: '?', text: 'This list', run: () => (shown.value = 'keys') },
  { key: 'Ctrl K', text: 'Find a page, a run or an agent', run: () => (shown.value = 'palette') },
  { key: 'g r', text: 'Runs', run: () => go(hrefOf({ page: 'runs' })) },
  { key: 'g i', text: 'Inbox', run: () => go(hrefOf({ page: 'inbox' })) },
  { key: 'g a', text: 'Agents', run: () => go(hrefOf({ page: 'agents' })) },
  { key: 'g s', text: 'Schedules', run: () => go(hrefOf({ page: 'schedules' })) },
  { key: 'g t', text: 'Tenants', run: () => go(hrefOf({ page: 'tenants' })) },
  {
    key: 't',
    text: 'Theme: as the system, light, dark',
    run: () => setTheme(nextTheme()),
  },
] as const;

async function loadMeta(): Promise<void> {
  try {
    const answer = await get<MetaAnswer>('/meta');
    const wasAway = isOffline.value || needsToken.value;
    meta.value = answer;
    setServerTime(answer.at);
    isOffline.value = false;
    needsToken.value = false;
    if (wasAway) void loadInbox();
  } catch (error) {
    if (!(error instanceof RequestFailed)) return;
    if (error.status === 401) needsToken.value = true;
    if (error.code === 'offline') isOffline.value = true;
  }
}

function showTitle(): void {
  const waiting = (inbox.value as InboxAnswer | null)?.items.length ?? 0;
  const open = page.value;
  const name = open.page === 'run' ? open.id : open.page === 'agent' ? open.name : open.page;
  const words = name.charAt(0).toUpperCase() + name.slice(1);
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${words} · Everloop`;
}
