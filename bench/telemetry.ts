/**
 * `telemetry`: what traces and metrics cost.
 *
 * - `turn_ratio_off`, `turn_ratio_on`: the time of 40 runs at once on a worker whose telemetry is
 *   switched off, and on one that sends its spans to a collector of this process, over that of a worker
 *   without telemetry. The sides alternate; a figure is the median of nine pairs.
 * - `ratio_on_low`: the lower end of the interval that holds the median of the pairs with 95 %: the goal
 *   of `turn_ratio_on` is met when this meets it.
 * - `main_thread_us_per_turn`: how long telemetry holds the main thread of a worker for the events of a
 *   turn, with spans and recordings, and without sending.
 * - `history_bytes_added`: the bytes of history of the same run with telemetry on, less those without.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noopMetricMeter } from '@temporalio/common';
import { BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { AgentEvent, EventPlace } from '../src/core/contract/events.ts';
import { openTelemetry } from '../src/telemetry/open.ts';
import { checkTelemetry } from '../src/telemetry/options.ts';
import type { Everloop } from '../src/client/everloop-client.ts';
import { openStage, type Stage } from './support/bench-stage.ts';
import { figure, lowerEnd, median, type Bench, type Figure } from './support/figure.ts';
import { readLinks } from './support/history-reader.ts';
import { instantAgent } from './support/instant-agent.ts';

const PAIRS = 9;
const FLEET = 40;
const TURNS = 3;
const LONG = 100;

/** The benchmark `telemetry`. */
export const telemetryBench: Bench = {
  name: 'telemetry',
  about: 'traces and metrics, off and on, over a worker without them',
  run: async () => {
    const collector = await startCollector();
    const stage = await openStage();
    try {
      return await measure(stage, collector.url);
    } finally {
      await stage.close();
      await collector.close();
    }
  },
};

async function measure(stage: Stage, url: string): Promise<readonly Figure[]> {
  const heard: (readonly [AgentEvent, EventPlace])[] = [];
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  const on = checkTelemetry({ traces: { spanProcessors } }, { hasEndpoint: false });
  const agents = [instantAgent('instant')];
  const without = await stage.serve(agents, {
    taskQueue: 'without',
    listeners: [
      (event, place) => void (event.runId === place.rootRunId && heard.push([event, place])),
    ],
  });
  const off = await stage.serve(agents, { taskQueue: 'off', telemetry: {} });
  const traced = await stage.serve(agents, { taskQueue: 'on', telemetry: on });
  for (const { everloop } of [without, off, traced]) await fleet(everloop);
  const offRatios: number[] = [];
  const onRatios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each side goes first in turn: the later ones find the service busy with the earlier.
    const sides = [without, off, traced].map(({ everloop }) => everloop);
    const times = new Map<Everloop, number>();
    for (let at = 0; at < 3; at++) {
      const side = sides[(pair + at) % 3];
      if (side !== undefined) times.set(side, await fleet(side));
    }
    const base = times.get(without.everloop) ?? Number.NaN;
    offRatios.push((times.get(off.everloop) ?? Number.NaN) / base);
    onRatios.push((times.get(traced.everloop) ?? Number.NaN) / base);
  }
  const added =
    (await historyBytes(stage, traced.everloop)) - (await historyBytes(stage, without.everloop));
  return [
    figure('turn_ratio_off', median(offRatios), 'x', '<= 1.01', 1),
    figure('turn_ratio_on', median(onRatios), 'x', '', 1),
    figure('ratio_on_low', lowerEnd(onRatios), 'x', '<= 1.03', 1),
    figure('main_thread_us_per_turn', await mainThreadUs(heard), 'µs', '<= 1000'),
    figure('history_bytes_added', added, 'B', '<= 0'),
  ];
}

async function fleet(everloop: Everloop): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: FLEET }, () => runOf(everloop, TURNS)));
  return performance.now() - startedAt;
}

async function runOf(everloop: Everloop, turns: number): Promise<string> {
  const run = await everloop.start('instant', {
    task: String(turns),
    limits: { iterations: turns, costUsd: 'unlimited' },
  });
  const { iterations } = await run.result();
  if (iterations !== turns) throw new Error(`Expected ${turns} iterations, got ${iterations}.`);
  return run.id;
}

async function historyBytes({ client }: Stage, everloop: Everloop): Promise<number> {
  const links = await readLinks(client, await runOf(everloop, LONG));
  // The first event of a link that is replayed again would count twice; a quiet run has none.
  return links.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function mainThreadUs(
  heard: readonly (readonly [AgentEvent, EventPlace])[],
): Promise<number> {
  const processor = new BatchSpanProcessor(new InMemorySpanExporter());
  const checked = checkTelemetry(
    { traces: { spanProcessors: [processor] }, metrics: '127.0.0.1:9464' },
    { hasEndpoint: false },
  );
  const telemetry = await openTelemetry(checked, {
    meter: noopMetricMeter,
    known: { agents: new Set(['instant']), models: new Set(), toolsOf: () => new Set(['read']) },
    cacheBytes: () => 0,
    warn: () => undefined,
  });
  const startedAt = performance.now();
  for (const [event, place] of heard) {
    for (const listen of telemetry.listeners) listen(event, place);
  }
  const tookMs = performance.now() - startedAt;
  await telemetry.close();
  const turns = heard.filter(([{ type }]) => type === 'agent:iteration:after').length;
  return (tookMs * 1_000) / turns;
}

/** Takes what comes, and keeps nothing. */
async function startCollector(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200).end('{}'));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
