/** The header of a run: where it stands, what it waits for, what it spent, what can be done. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { RunHeader } from '../../api.ts';
import { amountText, durationText } from '../../view/amounts.ts';
import { spentTexts } from '../../view/spent.ts';
import { send } from '../base/actions.ts';
import { runPath } from '../base/api.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { lossText } from '../../view/attempts.ts';
import { isBetweenTurns } from '../../view/between-turns.ts';
import { barsOfLines, changedLimits, isTelling, type BudgetBar } from '../../view/budgets.ts';
import { hrefOf, setQuery } from '../base/route.ts';
import { liveMode } from '../base/live.ts';
import { Bar, Copy, Icon, Pill, Skeleton } from '../parts/marks.tsx';
import { Ago, clockText, isToday, Since } from '../parts/times.tsx';
import { oneLine, Plain, Said } from '../parts/words.tsx';
import { ForkedFrom } from './forked-from.tsx';
import { HistoryBar } from './history-bar.tsx';
import { LimitsDialog } from './limits-dialog.tsx';
import { RunActions } from './run-actions.tsx';
import { rootOf } from './root-of.ts';
import type { RunModel } from './run-state.ts';

/** Bars that the header shows; the others are in the dialog of limits. */
const MAX_BARS = 4;

/** The header of `run`. */
export function RunHead({ run }: { readonly run: RunModel }): JSX.Element {
  const header = run.header.value;
  if (header === null) return <Skeleton lines={3} />;
  return (
    <header class="run-head">
      <Crumbs header={header} />
      <div class="title">
        <h1>
          <Plain text={header.agent} />
        </h1>
        <Pill state={run.unread.value === null ? stateOf(header) : 'encrypted'} />
        <span class="muted where" role="status">
          <Where run={run} header={header} />
          <Spent header={header} />
          <Losses run={run} />
        </span>
        <RunActions run={run} header={header} />
      </div>
      <Task text={header.task} />
      <ForkedFrom header={header} />
      <Quiet run={run} header={header} />
      <Approvals run={run} header={header} />
      <ActionNote run={run} />
      <Bars run={run} header={header} />
    </header>
  );
}

/** Why the run says nothing: no worker answers, or the console cannot read what it says. */
function Quiet({
  run,
  header,
}: {
  readonly run: RunModel;
  readonly header: RunHeader;
}): JSX.Element | null {
  const silence = run.silence.value;
  const unread = run.unread.value;
  if (silence === null && unread === null && header.state !== 'silent') return null;
  return (
    <p class="notice wait" role="alert">
      <span>
        {unread === null ? null : <>This run is encrypted, and the console cannot read it. </>}
        <Said text={unread?.message ?? silence?.message ?? SILENT_TEXT} />
      </span>
      {silence === null || unread !== null ? null : (
        <span>
          Silent for <Since at={silence.since} />.
        </span>
      )}
    </p>
  );
}

const SILENT_TEXT =
  'No worker answers for this run. It waits and loses nothing. Start one with `everloop worker`.';

function stateOf({ state, step, status }: RunHeader): string {
  if (status !== null && isBetweenTurns({ state, waitsFor: status.waitsFor })) return 'open';
  if (state !== 'ended') return state;
  return step?.status ?? status?.closed ?? 'ended';
}

function Crumbs({ header }: { readonly header: RunHeader }): JSX.Element {
  const { id, parent } = header;
  const root = rootOf(id);
  const short = (other: string, above: string): string =>
    other.startsWith(`${above}/`) ? other.slice(above.length + 1) : other;
  return (
    <nav class="crumbs row" aria-label="Where">
      <span class="clip">
        <a href={hrefOf({ page: 'runs' })}>Runs</a> <span class="faint">/</span>{' '}
        {root === id ? null : (
          <>
            <a class="mono" href={hrefOf({ page: 'run', id: root })}>
              <Plain text={root} />
            </a>{' '}
            <span class="faint">/</span>{' '}
          </>
        )}
        {parent === null || parent === root ? null : (
          <>
            <a class="mono" href={hrefOf({ page: 'run', id: parent })}>
              <Plain text={short(parent, root)} />
            </a>{' '}
            <span class="faint">/</span>{' '}
          </>
        )}
        <span class="mono">
          <Plain text={short(id, parent ?? root)} />
        </span>
      </span>
      <Copy text={id} label="Copy the id of the run" />
    </nav>
  );
}

function Where({
  run,
  header,
}: {
  readonly run: RunModel;
  readonly header: RunHeader;
}): JSX.Element {
  const { state, step, status, pending, startedAt } = header;
  if (step !== null) {
    const spent = durationText(step.usage.durationMs);
    return (
      <>
        {step.reason === 'answered' ? 'answered' : <Plain text={step.message ?? step.reason} />} in{' '}
        {spent}
      </>
    );
  }
  if (state === 'ended') return <>ended without a Step</>;
  if (run.unread.value !== null) return <>cannot be read here</>;
  if (state === 'silent') return <>waits for a worker</>;
  const oldest = pending.toSorted((a, b) => a.since - b.since)[0];
  const polled = run.feed.value === 'polled' || liveMode.value === 'polling' ? ' · polling' : '';
  if (oldest !== undefined) {
    const words = pending.map((item) =>
      item.kind === 'question'
        ? `question “${oneLine(item.question, 60)}”`
        : item.kind === 'pause'
          ? 'resume'
          : `${item.kind} of ${item.tool}`,
    );
    return (
      <>
        waits <Since at={oldest.since} /> for <Plain text={[...new Set(words)].join(', ')} />
        {polled}
      </>
    );
  }
  const isOpen = status !== null && isBetweenTurns({ state, waitsFor: status.waitsFor });
  const waits = isOpen ? 'a message' : (status?.waitsFor ?? []).join(', ');
  return (
    <>
      {waits === '' ? null : (
        <>
          waits for <Plain text={oneLine(waits, 120)} />
        </>
      )}
      {waits === '' || startedAt === null ? '' : ' · '}
      {startedAt === null ? null : (
        <>
          started <Ago at={startedAt} />
          {isToday(startedAt) ? ' ago' : ''}
        </>
      )}
      {polled}
    </>
  );
}

/** What the run and all below have spent, next to its state. */
function Spent({ header }: { readonly header: RunHeader }): JSX.Element | null {
  const usage = header.step?.usage ?? header.status?.usage;
  if (usage === undefined || usage.modelCalls === 0) return null;
  const { modelCalls, toolCalls } = usage;
  const calls = `${modelCalls} model ${modelCalls === 1 ? 'call' : 'calls'}, ${toolCalls} tool ${toolCalls === 1 ? 'call' : 'calls'}`;
  return (
    <span title={calls}>
      {' · '}
      {spentTexts(usage).join(' · ')}
    </span>
  );
}

/** How many attempts were lost; a press shows the last of them. */
function Losses({ run }: { readonly run: RunModel }): JSX.Element | null {
  const lost = run.attempts.losses.value;
  const last = lost.at(-1);
  if (last === undefined) return null;
  const words = `${lost.length} ${lost.length === 1 ? 'attempt' : 'attempts'} lost`;
  return (
    <>
      {' · '}
      <button
        type="button"
        class="text-button tone-bad"
        title={last.lost === undefined ? words : lossText(last.lost, clockText)}
        onClick={() =>
          setQuery({ tab: null, span: last.id, iteration: String(last.iteration) }, true)
        }
      >
        {words}
      </button>
    </>
  );
}

function Task({ text }: { readonly text: string }): JSX.Element | null {
  const isOpen = useSignal(false);
  if (text === '') return null;
  const isLong = text.length > 220 || text.includes('\n');
  return (
    <p class={`task-text muted${isOpen.value ? ' open' : ''}`}>
      <Plain text={isOpen.value ? text : oneLine(text, 600)} />
      {isLong ? (
        <button
          type="button"
          class="btn quiet small"
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? 'Less' : 'More'}
        </button>
      ) : null}
    </p>
  );
}

/** The approvals that hold for later calls, and the means to end them. */
function Approvals({
  run,
  header,
}: {
  readonly run: RunModel;
  readonly header: RunHeader;
}): JSX.Element | null {
  const approvals = header.status?.approvals ?? [];
  if (approvals.length === 0 || header.state === 'ended') return null;
  const revoke = async (id: string): Promise<void> => {
    const sent = await send(runPath(run.id, '/revoke'), { id });
    if (sent.kind === 'refused') run.note.value = { text: sent.message, tone: 'bad' };
    else void run.loadHeader();
  };
  return (
    <ul class="row muted" aria-label="Approvals that hold">
      {approvals.map(({ id, tool, args }) => (
        <li key={id} class="row">
          <Plain text={tool} /> {args === undefined ? 'always approved' : 'approved with arguments'}
          {mayAct.value ? (
            <button
              type="button"
              class="btn quiet small"
              disabled={!canAct.value}
              onClick={() => void revoke(id)}
            >
              Revoke
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

/** How the last action went: sent, accepted, or refused in the words of the run. */
function ActionNote({ run }: { readonly run: RunModel }): JSX.Element | null {
  const note = run.note.value;
  if (note === null) return null;
  return (
    <p class={`notice ${note.tone}`} role={note.tone === 'bad' ? 'alert' : 'status'}>
      <span>{note.text}</span>
      <button
        type="button"
        class="btn quiet small right"
        aria-label="Close"
        onClick={() => (run.note.value = null)}
      >
        <Icon name="close" />
      </button>
    </p>
  );
}

function Bars({
  run,
  header,
}: {
  readonly run: RunModel;
  readonly header: RunHeader;
}): JSX.Element {
  const isOpen = useSignal(false);
  const bars = barsOfLines(header.budgets);
  const shown = bars.filter(isTelling).slice(0, MAX_BARS);
  const changes = changedLimits(run.views.value);
  return (
    <div class="bars" style={{ '--bars': shown.length + 1 }}>
      {shown.map((bar) => (
        <BarButton
          key={`${bar.key} ${bar.ancestor ?? ''}`}
          bar={bar}
          ticks={bar.ancestor === undefined ? (changes.get(bar.key) ?? []) : []}
          mayChange={header.state !== 'ended' && mayAct.value}
          onOpen={() => (isOpen.value = true)}
        />
      ))}
      <HistoryBar run={run} />
      {isOpen.value ? (
        <LimitsDialog run={run} bars={bars} onClose={() => (isOpen.value = false)} />
      ) : null}
    </div>
  );
}

interface BarButtonProps {
  readonly bar: BudgetBar;
  readonly ticks: readonly number[];
  /** Whether its dialog can change the limit, or only shows it. */
  readonly mayChange: boolean;
  readonly onOpen: () => void;
}

function BarButton({ bar, ticks, mayChange, onOpen }: BarButtonProps): JSX.Element {
  const { label, unit, used, reserved, max, ancestor } = bar;
  const before = ticks.map((tick) => amountText(unit, tick)).join(', then ');
  return (
    <button
      type="button"
      class="budget"
      onClick={onOpen}
      title={`${label}.${mayChange ? ' Press to change the limit.' : ''}${before === '' ? '' : ` It was ${before}.`}`}
    >
      <span class="row between">
        <span class="muted clip">
          {label}
          {ancestor === undefined ? null : (
            <span class="faint">
              {' '}
              of <Plain text={ancestor} />
            </span>
          )}
        </span>
        <span class="amount">
          <b>{amountText(unit, used)}</b>
          {reserved > 0 ? <span class="faint"> + {amountText(unit, reserved)}</span> : null}
          <span class="faint"> / {amountText(unit, max)}</span>
        </span>
      </span>
      <Bar bar={bar} ticks={ticks} />
    </button>
  );
}
