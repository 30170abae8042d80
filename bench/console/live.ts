/** Figures of pages that are open while runs work: from the worker to the pixels. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { TICKER, TORRENT, WRITER } from '../support/console-orders.ts';
import type { AskedOfService } from '../support/console-orders.ts';
import type { ConsoleStage } from '../support/console-stage.ts';
import { figure, type Figure } from '../support/figure.ts';
import {
  AGES_SCRIPT,
  agesOf,
  arrivalsOf,
  arrivalsScript,
  FRAMES_SCRIPT,
  framesOf,
  heapMb,
} from '../support/page-scripts.ts';

const PIECES = 400;
const ITERATIONS = 120;
const TABS = 3;
const IDLE_S = 10;
const OPEN_S = 20;
/** The outline is read once, when there are fifty iterations. */
const OPEN_AFTER = 60;
const WARM_UP_MS = 3_000;

/** From an event in the workflow, and from a piece of text in the model call, to its pixels. */
export async function toPixels(stage: ConsoleStage): Promise<readonly Figure[]> {
  const events = await eventAges(stage);
  const texts = await textAges(stage);
  return [
    figure('event_to_pixels_p95_ms', quantile(events, 0.95), 'ms', '<= 200'),
    figure('event_to_pixels_p50_ms', quantile(events, 0.5), 'ms'),
    figure('text_to_pixels_p95_ms', quantile(texts, 0.95), 'ms', '<= 50'),
    figure('text_to_pixels_p50_ms', quantile(texts, 0.5), 'ms'),
  ];
}

/**
 * Of the beginnings of iterations and of the ends of calls: from the event's own time, which is
 * that of its workflow task, to the frame after the page shows it.
 */
async function eventAges({ everloop, open }: ConsoleStage): Promise<readonly number[]> {
  const selector = 'article.iteration, .calls .call:not(:has(.tone-run))';
  const run = await everloop.start(TICKER, { task: String(ITERATIONS), limits: 'unlimited' });
  const page = await open(`/runs/${encodeURIComponent(run.id)}`, arrivalsScript(selector));
  await run.result();
  await sleep(1_000);
  const arrivals = await arrivalsOf(page);
  await page.context().close();
  const events = await run.events();
  const openedAt = Math.min(...Object.values(arrivals).filter((at) => at > 0));
  return events.flatMap((event) => {
    const at = arrivals[elementOf(event) ?? ''];
    // What happened before the page was open is the past.
    return at === undefined || event.at < openedAt ? [] : [at - event.at];
  });
}

function elementOf(event: AgentEvent): string | undefined {
  if (event.type === 'agent:iteration:before') return `iteration-${event.iteration}`;
  return event.type === 'agent:tool_call:after' ? `call-${event.callId}` : undefined;
}

async function textAges({ everloop, open }: ConsoleStage): Promise<readonly number[]> {
  const run = await everloop.start(WRITER, { task: String(PIECES) });
  const page = await open(`/runs/${encodeURIComponent(run.id)}`, AGES_SCRIPT);
  await run.result();
  const ages = await agesOf(page);
  await page.context().close();
  return ages;
}

/** What the console asks the service: for a run that works, in several tabs, and for nothing. */
export async function load(stage: ConsoleStage): Promise<readonly Figure[]> {
  const { everloop, open, asked } = stage;
  const page = await open('/inbox');
  await sleep(WARM_UP_MS);
  const idle = await askedWithin(IDLE_S * 1_000, asked);
  await page.context().close();
  const run = await everloop.start(TICKER, { task: '1000', limits: 'unlimited' });
  const pages = [];
  for (let tab = 0; tab < TABS; tab++) {
    pages.push(await open(`/runs/${encodeURIComponent(run.id)}`));
  }
  while ((await run.status()).iteration < OPEN_AFTER) await sleep(500);
  await sleep(WARM_UP_MS);
  const busy = await askedWithin(OPEN_S * 1_000, asked);
  for (const each of pages) await each.context().close();
  await run.cancel();
  return [
    figure('queries_per_second_open', busy.queries, '1/s', '<= 2'),
    figure('requests_per_second_open', busy.all, '1/s'),
    figure('queries_per_second_idle', idle.queries, '1/s', '<= 0'),
    figure('requests_per_second_idle', idle.all, '1/s'),
  ];
}

async function askedWithin(
  ms: number,
  asked: () => Promise<AskedOfService>,
): Promise<{ readonly queries: number; readonly all: number }> {
  const before = await asked();
  await sleep(ms);
  const after = await asked();
  const all = (counts: AskedOfService): number =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  const queries = (counts: AskedOfService): number => counts['QueryWorkflow'] ?? 0;
  const seconds = ms / 1_000;
  return {
    queries: (queries(after) - queries(before)) / seconds,
    all: (all(after) - all(before)) / seconds,
  };
}

/** A page that is open while 300 pieces a second come: its frames, and what its heap keeps. */
export async function torrent(
  { everloop, open }: ConsoleStage,
  seconds: number,
): Promise<readonly Figure[]> {
  const run = await everloop.start(TORRENT, { task: String(seconds), limits: 'unlimited' });
  const page = await open(`/runs/${encodeURIComponent(run.id)}`, FRAMES_SCRIPT);
  await sleep(WARM_UP_MS);
  const heapBefore = await heapMb(page);
  const [frames, startedAt] = [await framesOf(page), performance.now()];
  await sleep(Math.max(5_000, (seconds - 10) * 1_000));
  const perSecond = ((await framesOf(page)) - frames) / ((performance.now() - startedAt) / 1_000);
  await run.cancel();
  await run.result();
  const growth = (await heapMb(page)) - heapBefore;
  await page.context().close();
  return [
    figure('torrent_frames_per_second', perSecond, '1/s', '>= 50'),
    figure('torrent_heap_growth_mb', growth, 'MB', '<= 20'),
  ];
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
