/**
 * What the run said and did, iteration by iteration. The page scrolls along while its end is in
 * view; otherwise a button says that there is more below.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { durationText, numberText } from '../../view/amounts.ts';
import type { IterationView } from '../../view/iteration-view.ts';
import { bindViewKeys } from '../base/keys.ts';
import { query, setQuery } from '../base/route.ts';
import { AnswerCard } from '../people/answer-card.tsx';
import { IterationBlock } from './iteration-block.tsx';
import type { RunModel } from './run-state.ts';
import { StepCard } from './step-card.tsx';

/** How near to the end counts as at the end. */
const NEAR_PX = 160;

/** How far below the top of the window an iteration counts as the one that is read. */
const TOP_PX = 120;

/** The transcript of `run`. */
export function Transcript({ run }: { readonly run: RunModel }): JSX.Element {
  const shown = run.section.value;
  const reply = run.reply.value;
  const header = run.header.value;
  const isLive = header !== null && header.state !== 'ended';
  // While no worker answers, nothing is written.
  const isWritten = isLive && header.state !== 'silent';
  const silentSince = isOpen(shown.at(-1)) ? (run.silence.value?.since ?? null) : null;
  const first = shown[0]?.number ?? 0;
  const last = shown.at(-1)?.number ?? 0;
  const isAtEnd = run.anchor.value === null || last >= run.newest;
  const isNearEnd = useRef(isLive);
  const hasNewBelow = useSignal(false);
  const wanted = Number(query.value.get('iteration') ?? Number.NaN);
  useEffect(() => {
    const look = (): void => {
      const rest = document.documentElement.scrollHeight - scrollY - innerHeight;
      isNearEnd.current = rest < NEAR_PX;
      if (isNearEnd.current) hasNewBelow.value = false;
      run.top.value = topIteration();
    };
    look();
    addEventListener('scroll', look, { passive: true });
    return () => {
      removeEventListener('scroll', look);
      run.top.value = null;
    };
  }, [run]);
  useLayoutEffect(() => {
    if (!isLive || run.news.value === 0) return;
    if (isNearEnd.current && isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
    else hasNewBelow.value = true;
  }, [run.news.value, reply?.text]);
  useEffect(() => {
    if (Number.isNaN(wanted)) return;
    const isShown = run.section.value.some(({ number }) => number === wanted);
    if (!isShown) void run.show(wanted);
  }, [wanted, run]);
  useEffect(() => {
    document.getElementById(`iteration-${wanted}`)?.scrollIntoView({ block: 'center' });
  }, [wanted, first]);
  useEffect(() => bindViewKeys(iterationKeys(run)), [run]);
  const showEnd = (): void => {
    setQuery({ iteration: null });
    run.showEnd();
    requestAnimationFrame(() => scrollTo({ top: document.documentElement.scrollHeight }));
  };
  const open = isLive && isAtEnd ? header.pending : [];
  return (
    <section class="transcript" aria-label="Transcript">
      {first > 1 ? (
        <button type="button" class="btn small earlier" onClick={() => void run.loadEarlier()}>
          Show iterations before {numberText(first)}
        </button>
      ) : null}
      {shown.map((view, index) => (
        <IterationBlock
          key={view.number}
          view={view}
          run={run}
          attempts={run.attempts.value}
          reply={reply !== null && reply.iteration === view.number ? reply : null}
          isNewest={isWritten && isAtEnd && index === shown.length - 1}
          silentSince={isLive && index === shown.length - 1 ? silentSince : null}
          pauseBefore={pauseBefore(shown[index - 1]?.to, view.from)}
          isPicked={view.number === wanted}
        />
      ))}
      {isAtEnd ? null : (
        <div class="acts earlier">
          <button type="button" class="btn small" onClick={() => void run.loadLater()}>
            Show iterations after {numberText(last)}
          </button>
          <button type="button" class="btn small" onClick={showEnd}>
            Go to the end
          </button>
        </div>
      )}
      {open.length === 0 || header === null ? null : (
        <section class="waits" aria-label="Waits for you">
          {open
            .filter(({ kind }) => kind !== 'pause')
            .map((item) => (
              <div class="card" key={item.id}>
                <AnswerCard
                  row={{ run: header.id, agent: header.agent, task: header.task, item }}
                  hasKeys={false}
                  onDone={() => void run.loadHeader()}
                />
              </div>
            ))}
        </section>
      )}
      {header?.step == null || !isAtEnd ? null : <StepCard run={run} step={header.step} />}
      {hasNewBelow.value ? (
        <button type="button" class="btn primary below" onClick={showEnd}>
          New below
        </button>
      ) : null}
    </section>
  );
}

/** Whether a call of it is in flight. */
function isOpen(view: IterationView | undefined): boolean {
  return [...(view?.models ?? []), ...(view?.calls ?? [])].some(({ to }) => to === undefined);
}

/** Number of the iteration that stands at the top of the window; null: none does. */
function topIteration(): number | null {
  for (const element of document.querySelectorAll('.iteration')) {
    const { top, bottom } = element.getBoundingClientRect();
    if (top > innerHeight) return null;
    if (bottom > TOP_PX) return Number(element.id.slice('iteration-'.length));
  }
  return null;
}

/** A long quiet between two iterations is said; a short one is not. */
function pauseBefore(to: number | undefined, from: number): string | null {
  const ms = to === undefined ? 0 : from - to;
  return ms > 60_000 ? durationText(ms) : null;
}

function iterationKeys(run: RunModel): Parameters<typeof bindViewKeys>[0] {
  const move = (by: number): void => {
    const at = Number(query.value.get('iteration') ?? run.top.value ?? run.newest);
    const next = Math.max(1, Math.min(run.newest, at + by));
    setQuery({ iteration: String(next) });
  };
  return [
    { key: 'j', text: 'Next iteration', run: () => move(1) },
    { key: 'k', text: 'Iteration before', run: () => move(-1) },
  ];
}
