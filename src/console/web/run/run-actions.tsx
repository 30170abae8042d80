/** What can be done with a run, and the dialogs that do it. */
import { useSignal, type Signal } from '@preact/signals';
import type { FunctionComponent, JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { RunHeader, TreeRunsAnswer } from '../../api.ts';
import { barsOfLines } from '../../view/budgets.ts';
import { say, send } from '../base/actions.ts';
import { runPath } from '../base/api.ts';
import { canAct, mayAct } from '../base/connection.ts';
import { bindKeys } from '../base/keys.ts';
import { useResource } from '../base/resource.ts';
import { query } from '../base/route.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';
import { lazyDialog } from '../parts/lazy.tsx';
import { StartDialog } from '../runs/start-dialog.tsx';
import { exportRun } from './export-run.ts';
import type { ForkDialogProps } from './fork-dialog.tsx';
import { LimitsDialog } from './limits-dialog.tsx';
import type { RunModel } from './run-state.ts';

const ForkDialog: FunctionComponent<ForkDialogProps> = lazyDialog(
  async () => (await import('./fork-dialog.tsx')).ForkDialog,
);

type Shown = 'send' | 'pause' | 'limits' | 'cancel' | 'again' | null;

/** The buttons in the header of a run. */
export function RunActions({
  run,
  header,
}: {
  readonly run: RunModel;
  readonly header: RunHeader;
}): JSX.Element | null {
  const shown = useSignal<Shown>(null);
  const isEnded = header.state === 'ended';
  const isPaused = header.state === 'paused';
  // It has a field to say something.
  const isConversation = header.conversation !== undefined;
  const close = (): void => {
    shown.value = null;
  };
  const pause = (): void => {
    if (!canAct.value) return;
    if ((run.header.value?.liveChildren ?? 0) > 0) shown.value = 'pause';
    else void pauseOrResume(run);
  };
  useLayoutEffect(() => {
    if (!mayAct.value || isEnded) return undefined;
    return bindKeys([
      ...(isConversation
        ? []
        : [{ key: 's', text: 'Send an input', run: (): void => void (shown.value = 'send') }]),
      { key: 'p', text: 'Pause or resume', run: pause },
      { key: 'l', text: 'Limits', run: () => (shown.value = 'limits') },
      { key: 'c', text: 'Cancel', run: () => (shown.value = 'cancel') },
    ]);
  }, [run, isEnded, isPaused]);
  const fork = (): void => {
    run.forkAt.value = Math.max(1, Number(query.value.get('iteration') ?? run.newest) || 1);
  };
  useLayoutEffect(
    () => (mayAct.value ? bindKeys([{ key: 'f', text: 'Fork', run: fork }]) : undefined),
    [run, mayAct.value],
  );
  if (!mayAct.value && !isEnded) return null;
  return (
    <div class="acts">
      {isEnded ? (
        <>
          {mayAct.value && !isConversation ? (
            <Act name="Start again" onClick={() => (shown.value = 'again')} />
          ) : null}
          <Act name="Export" onClick={() => void exportRun(run.id, 'run')} isAlways />
        </>
      ) : (
        <>
          {isConversation ? null : (
            <Act name="Send" keyName="s" onClick={() => (shown.value = 'send')} />
          )}
          <Act name={isPaused ? 'Resume' : 'Pause'} keyName="p" onClick={pause} />
          <Act name="Limits" keyName="l" onClick={() => (shown.value = 'limits')} />
          <Act name="Cancel" isDanger onClick={() => (shown.value = 'cancel')} />
        </>
      )}
      {mayAct.value ? <Act name="Fork" keyName="f" onClick={fork} /> : null}
      {run.forkAt.value === null ? null : (
        <ForkDialog
          key={run.forkAt.value}
          run={run}
          at={run.forkAt.value}
          onClose={() => (run.forkAt.value = null)}
        />
      )}
      <Shown shown={shown} run={run} header={header} close={close} />
    </div>
  );
}

function Act({
  name,
  keyName,
  onClick,
  isDanger,
  isAlways,
}: {
  readonly name: string;
  readonly keyName?: string;
  readonly onClick: () => void;
  readonly isDanger?: true;
  readonly isAlways?: true;
}): JSX.Element {
  return (
    <button
      type="button"
      class={isDanger === true ? 'btn danger' : 'btn'}
      disabled={isAlways !== true && !canAct.value}
      onClick={onClick}
    >
      {name}
      {keyName === undefined ? null : (
        <kbd class="optional" aria-hidden="true">
          {keyName}
        </kbd>
      )}
    </button>
  );
}

interface ShownProps {
  readonly shown: Signal<Shown>;
  readonly run: RunModel;
  readonly header: RunHeader;
  readonly close: () => void;
}

function Shown({ shown, run, header, close }: ShownProps): JSX.Element | null {
  switch (shown.value) {
    case 'send':
      return <SendDialog run={run} onClose={close} />;
    case 'pause':
      return <PauseDialog run={run} onClose={close} />;
    case 'limits':
      return <LimitsDialog run={run} bars={barsOfLines(header.budgets)} onClose={close} />;
    case 'cancel':
      return <CancelDialog run={run} onClose={close} />;
    case 'again':
      return <StartDialog onClose={close} agent={header.agent} task={header.task} />;
    case null:
      return null;
  }
}

const KINDS = [
  ['queue', 'Queue', 'The model reads it before its next turn.'],
  ['steer', 'Steer', 'Calls that have not begun are left out, so that it is read sooner.'],
  ['interrupt', 'Interrupt', 'What is in flight is stopped, and the model reads it at once.'],
] as const;

interface RunDialogProps {
  readonly run: RunModel;
  readonly onClose: () => void;
}

function SendDialog({ run, onClose }: RunDialogProps): JSX.Element {
  const text = useSignal('');
  const kind = useSignal<'queue' | 'steer' | 'interrupt'>('queue');
  const tree = useSignal(false);
  const body = (): object => ({ text: text.value, kind: kind.value, tree: tree.value });
  return (
    <ActionDialog
      title="Send an input"
      verb="Send"
      path={runPath(run.id, '/send')}
      body={body}
      isReady={text.value.trim() !== ''}
      onClose={onClose}
      done={({ position }) =>
        position === null
          ? 'Accepted, not yet applied: no worker answers.'
          : `Accepted${position === undefined ? '' : ` at place ${position}`}.`
      }
    >
      <div class="field">
        <label for="send-text">Text</label>
        <textarea
          id="send-text"
          autofocus
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </div>
      <fieldset class="choices">
        <legend class="sr">How it reaches the run</legend>
        {KINDS.map(([value, name, effect]) => (
          <label key={value}>
            <input
              type="radio"
              name="kind"
              checked={kind.value === value}
              onChange={() => (kind.value = value)}
            />
            <span>
              <b class="strong">{name}</b> <span class="muted">{effect}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {(run.header.value?.liveChildren ?? 0) === 0 ? null : <TreeChoice tree={tree} />}
    </ActionDialog>
  );
}

/** Pauses the run alone, or goes on with it; what comes of it stands in the header. */
async function pauseOrResume(run: RunModel): Promise<void> {
  const isPaused = run.header.value?.state === 'paused';
  run.note.value = { text: isPaused ? 'Resume: sent.' : 'Pause: sent.', tone: '' };
  const sent = await send(runPath(run.id, isPaused ? '/resume' : '/pause'), {});
  if (sent.kind === 'refused') {
    run.note.value = { text: sent.message, tone: 'bad' };
    return;
  }
  run.note.value = null;
  say(pausedText(isPaused));
  void run.loadHeader();
}

function pausedText(wasPaused: boolean): string {
  return wasPaused ? 'Accepted: it goes on.' : 'Accepted: it pauses before the next iteration.';
}

function PauseDialog({ run, onClose }: RunDialogProps): JSX.Element {
  const tree = useSignal(true);
  const isPaused = run.header.value?.state === 'paused';
  const name = isPaused ? 'Resume' : 'Pause';
  return (
    <ActionDialog
      title={name}
      verb={name}
      path={runPath(run.id, isPaused ? '/resume' : '/pause')}
      body={() => ({ tree: tree.value })}
      isReady
      onClose={() => {
        onClose();
        void run.loadHeader();
      }}
      done={() => pausedText(isPaused)}
    >
      <TreeChoice tree={tree} />
    </ActionDialog>
  );
}

function TreeChoice({ tree }: { readonly tree: Signal<boolean> }): JSX.Element {
  return (
    <fieldset class="choices">
      <legend class="sr">Which runs</legend>
      {[false, true].map((value) => (
        <label key={String(value)}>
          <input
            type="radio"
            name="tree"
            checked={tree.value === value}
            onChange={() => (tree.value = value)}
          />
          {value ? 'This run and all below' : 'This run'}
        </label>
      ))}
    </fieldset>
  );
}

function CancelDialog({ run, onClose }: RunDialogProps): JSX.Element {
  const reason = useSignal('');
  const hasBelow = (run.header.value?.liveChildren ?? 0) > 0;
  const { data } = useResource<TreeRunsAnswer>(hasBelow ? runPath(run.id, '/tree') : null);
  const below = data.value?.runs.filter(
    ({ id, state }) => id !== run.id && state !== 'ended',
  ).length;
  return (
    <ActionDialog
      title="Cancel this run"
      verb="Cancel the run"
      isDanger
      path={runPath(run.id, '/cancel')}
      body={() => (reason.value === '' ? {} : { reason: reason.value })}
      isReady
      onClose={onClose}
      done={() => 'The run is told to end.'}
    >
      <p class="muted">
        The run ends with the status canceled and keeps what it has done.
        {hasBelow ? ` ${belowText(below)}` : ''}
      </p>
      <div class="field spaced">
        <label for="cancel-reason">Reason</label>
        <input
          id="cancel-reason"
          autofocus
          value={reason.value}
          onInput={(event) => (reason.value = event.currentTarget.value)}
        />
      </div>
    </ActionDialog>
  );
}

function belowText(below: number | undefined): string {
  if (below === undefined) return 'All runs below it end too.';
  return below === 1 ? '1 run below it ends too.' : `${below} runs below it end too.`;
}
