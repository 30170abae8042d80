/**
 * `telemetry`: what traces and metrics cost.
 *
 * - `turn_ratio_off`, `turn_ratio_on`, `turn_ratio_silent`: the time of 40 runs at once on a worker whose
 *   telemetry is switched off, on one that sends its spans to a collector of this process, and on one
 *   whose collector never answers, over that of a worker without telemetry. The sides alternate; a
 *   figure is the median of nine pairs.
 * - `ratio_off_low`, `ratio_on_low`, `ratio_silent_low`: the lower ends of the intervals that hold the
 *   medians of the pairs with 95 %: a goal is met when its lower end meets it.
 * - `main_thread_us_per_turn`: how long telemetry holds the main thread of a worker for the events of a
 *   turn, with spans and recordings, and without sending; the median of nine
 *   rounds over all turns.
 * - `history_bytes_added`: what the histories of the same run with telemetry on and without it hold, in
 *   bytes, one less the other; ids, times and workflow tasks apart. `test/e2e/traces.test.ts` compares
 *   the events themselves.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { noopMetricMeter } from '@temporalio/common';
import { BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { AgentEvent, EventPlace } from '../src/core/contract/events.ts';
import { openTelemetry } from '../src/telemetry/open.ts';
import { checkTelemetry } from '../src/telemetry/options.ts';
import type { Everloop } from '../src/client/everloop-client.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, lowerEnd, median, type Bench, type Figure } from './support/figure.ts';
import { instantAgent } from './support/instant-agent.ts';
import { fleetMs, runInstant } from './support/instant-runs.ts';
import { historiesOf } from '../test/support/replay.ts';
import { steadyHistory } from '../test/support/steady-history.ts';

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
    const silent = await startCollector(true);
    try {
      return await withStage(async (stage) => {
        try {
          return await measure(stage, collector.url, silent.url);
        } finally {
          // Before the worker stops: it would wait for an answer.
          await silent.close();
        }
      });
    } finally {
      await collector.close();
    }
  },
};

async function measure(stage: Stage, url: string, silentUrl: string): Promise<readonly Figure[]> {
  const heard: (readonly [AgentEvent, EventPlace])[] = [];
  const agents = [instantAgent('instant')];
  const without = await stage.serve(agents, {
    taskQueue: 'without',
    listeners: [
      (event, place) => void (event.runId === place.rootRunId && heard.push([event, place])),
    ],
  });
  const off = await stage.serve(agents, { taskQueue: 'off', telemetry: {} });
  const traced = await stage.serve(agents, { taskQueue: 'on', telemetry: tracesTo(url) });
  const unheard = await stage.serve(agents, {
    taskQueue: 'silent',
    telemetry: tracesTo(silentUrl),
  });
  const sides = [without, off, traced, unheard].map(({ everloop }) => everloop);
  for (const side of sides) await fleet(side);
  const ratios = sides.map((): number[] => []);
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each side goes first in turn: the later ones find the service busy with the earlier.
    const times = sides.map(() => Number.NaN);
    for (let at = 0; at < sides.length; at++) {
      const index = (pair + at) % sides.length;
      const side = sides[index];
      if (side !== undefined) times[index] = await fleet(side);
    }
    for (const [index, of] of ratios.entries()) {
      of.push((times[index] ?? Number.NaN) / (times[0] ?? Number.NaN));
    }
  }
  const [, offRatios = [], onRatios = [], silentRatios = []] = ratios;
  const added =
    (await historyBytes(stage, traced.everloop)) - (await historyBytes(stage, without.everloop));
  return [
    figure('turn_ratio_off', median(offRatios), 'x', '', 1),
    figure('ratio_off_low', lowerEnd(offRatios), 'x', '<= 1.01', 1),
    figure('turn_ratio_on', median(onRatios), 'x', '', 1),
    figure('ratio_on_low', lowerEnd(onRatios), 'x', '<= 1.03', 1),
    figure('turn_ratio_silent', median(silentRatios), 'x', '', 1),
    figure('ratio_silent_low', lowerEnd(silentRatios), 'x', '<= 1.05', 1),
    figure('main_thread_us_per_turn', await mainThreadUs(heard), 'µs', '<= 1000'),
    figure('history_bytes_added', added, 'B', '<= 0'),
  ];
}

/** Traces that are sent to the collector at `url`. */
function tracesTo(url: string): ReturnType<typeof checkTelemetry> {
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  return checkTelemetry({ traces: { spanProcessors } }, { hasEndpoint: false });
}

function fleet(everloop: Everloop): Promise<number> {
  return fleetMs(everloop, FLEET, TURNS);
}

async function historyBytes({ client }: Stage, everloop: Everloop): Promise<number> {
  const histories = await historiesOf(client, await runInstant(everloop, LONG));
  return Buffer.byteLength(histories.flatMap(steadyHistory).join(''));
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
  const turns = heard.filter(([{ type }]) => type === 'agent:iteration:after').length;
  const rounds: number[] = [];
  for (let round = 0; round < PAIRS; round++) {
    const startedAt = performance.now();
    for (const [event, place] of heard) {
      for (const listen of telemetry.listeners) listen(event, place);
    }
    rounds.push(((performance.now() - startedAt) * 1_000) / turns);
    await nextTick();
  }
  await telemetry.close();
  return median(rounds);
}

/** Takes what comes, and keeps nothing; a silent one never answers. */
async function startCollector(
  isSilent = false,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    if (!isSilent) request.on('end', () => response.writeHead(200).end('{}'));
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
