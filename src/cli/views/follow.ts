/** Waits for a run and shows its progress meanwhile: its status and provisional text. */
import { pause } from '../../client/streaming/follow-chunks.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { Step } from '../../core/contract/step.ts';
import type { Chunk, ChunkMarker } from '../../core/streaming/chunk.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { Output } from '../terminal/output.ts';
import { progressText } from './run-text.ts';
import { terminalText } from '../terminal/text.ts';
import { waitingText } from './waiting-text.ts';

/** How often the status of a run is queried. */
const POLL_MS = 1_000;

/** Calls `look` once a second, until it returns true or `signal` is aborted. */
export async function poll(signal: AbortSignal, look: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && !(await look())) await pause(POLL_MS, signal);
}

/** Options of {@link follow}. */
export interface FollowOptions {
  /** Shows provisional text. */
  readonly streams: boolean;
  /** Abort it to stop showing progress; the run goes on. */
  readonly signal: AbortSignal;
}

/** Waits for the Step of `run`, and shows progress on stderr until then. */
export async function follow(
  run: RunHandle,
  output: Output,
  options: FollowOptions,
): Promise<Step> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const printer = createProgressPrinter(output);
  const watching = watch(run, { output, printer }, signal);
  if (options.streams) {
    // Provisional text is optional: if it fails, the result still comes.
    void printStream(run, printer, signal).catch(() => undefined);
  }
  try {
    return await run.result();
  } finally {
    ended.abort();
    await watching;
    printer.clear();
  }
}

/** Where progress is shown. */
interface Screen {
  readonly output: Output;
  readonly printer: ProgressPrinter;
}

async function watch(run: RunHandle, screen: Screen, signal: AbortSignal): Promise<void> {
  const { printer } = screen;
  const asked = new Set<string>();
  let shown = '';
  let known = '';
  let since = Date.now();
  await poll(signal, async () => {
    const { text = known, waits } = await progressOf(run);
    if (text !== known) {
      since = Date.now();
      if (waits) await showWaiting(run, screen, asked);
    }
    known = text;
    const quietMs = Date.now() - Math.max(since, printer.streamedAt());
    const whole = `${text}${quietText(text, quietMs)}`;
    if (whole !== shown && !signal.aborted) printer.progress(whole);
    shown = whole;
    return false;
  });
}

/** Shows what waits for a person, once each, and how to answer: the line itself has only its id. */
async function showWaiting(
  run: RunHandle,
  { output, printer }: Screen,
  asked: Set<string>,
): Promise<void> {
  // `everloop inbox` shows it in any case.
  const items = await run.pending().catch(() => []);
  for (const item of items) {
    const key = `${item.path} ${item.id}`;
    if (asked.has(key)) continue;
    asked.add(key);
    printer.clear();
    output.note(waitingText(item, run.id));
  }
}

/** After how many seconds without any sign of a model the line says so. */
const QUIET_SECONDS: readonly number[] = [3, 10, 30];

/** ` · no reply for 10 s`; empty while that is no news, or when no model is asked. */
export function quietText(progress: string, quietMs: number): string {
  if (!/(?:^| · |, )(?:\d+ × )?model [^·]*$/.test(progress)) return '';
  const seconds = Math.floor(quietMs / 1_000);
  const said =
    seconds < 60 ? QUIET_SECONDS.findLast((one) => one <= seconds) : seconds - (seconds % 60);
  return said === undefined
    ? ''
    : ` · no reply for ${said < 60 ? `${said} s` : `${said / 60} min`}`;
}

/** The status of a run as a line, and whether it waits for something; no text: not known now. */
interface Progress {
  readonly text?: string;
  readonly waits: boolean;
}

async function progressOf(run: RunHandle): Promise<Progress> {
  try {
    const status = await run.status();
    return { text: progressText(status), waits: status.state === 'waiting' };
  } catch (error) {
    // A permanent failure comes from `result()`; a failed query is repeated.
    const lacksWorker = isUsageError(error) && error.code === 'no_worker';
    return lacksWorker ? { text: 'waits for a worker', waits: false } : { waits: false };
  }
}

/** Shows the provisional text of `run` until it ends or `signal` is aborted. */
export async function printStream(
  run: Pick<RunHandle, 'stream'>,
  printer: ProgressPrinter,
  signal: AbortSignal,
): Promise<void> {
  const items = run.stream()[Symbol.asyncIterator]();
  // A model may be silent for long, so an abort must not wait for its next chunk.
  signal.addEventListener('abort', () => void items.return?.(), { once: true });
  for (;;) {
    const next = await items.next();
    if (signal.aborted || next.done === true) return;
    printer.stream(next.value);
  }
}

/** Shows progress: one changing line on a terminal, a line for each change elsewhere. */
export interface ProgressPrinter {
  readonly progress: (text: string) => void;
  readonly stream: (item: Chunk | ChunkMarker) => void;
  /** When text was last shown, in ms since 1970; 0: never. */
  readonly streamedAt: () => number;
  /** Removes the changing line, or ends a line of text. */
  readonly clear: () => void;
}

/** A printer on the progress stream of `output`. */
export function createProgressPrinter(output: Output): ProgressPrinter {
  const { isLive, paintNote } = output;
  let line: 'empty' | 'progress' | 'text' = 'empty';
  let shown: Chunk | ChunkMarker | undefined;
  let streamedAt = 0;
  const clear = (): void => {
    if (line === 'progress') output.raw('\r\u001b[K');
    if (line === 'text') output.raw('\n');
    line = 'empty';
  };
  const text = (piece: string): void => {
    if (line !== 'text') clear();
    output.raw(paintNote('dim', piece));
    line = piece.endsWith('\n') ? 'empty' : 'text';
  };
  return {
    clear,
    streamedAt: () => streamedAt,
    progress: (progress) => {
      clear();
      if (!isLive) return output.note(progress);
      output.raw(paintNote('cyan', progress));
      line = 'progress';
    },
    stream: (item) => {
      if (item.kind === 'topic') return;
      // The `restart` marker may have been lost; a higher attempt means the same.
      streamedAt = Date.now();
      const isAgain = shown?.iteration === item.iteration && item.attempt > shown.attempt;
      shown = item;
      if (isAgain) text('\n[starts again]\n');
      if ('delta' in item) {
        if (item.kind !== 'tool_args') text(terminalText(item.delta));
        return;
      }
      if (item.kind === 'end') clear();
      if (item.kind === 'gap') text('[…]');
    },
  };
}
