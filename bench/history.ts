/**
 * `history`: what a run costs in the service's history, which is billed, replayed and limited.
 *
 * - `total_bytes`: a chat of 400 KB continues for 100 model calls, with a 5 KB result for each. The
 *   figure is the service's `historySizeBytes`, summed over the chain. Its baseline is computed:
 *   the same run if each model call carried the conversation so far.
 * - `overhead_bytes`, `events`: the mean over the iterations of the same run. Payload is what was
 *   said: texts, tool names and arguments of replies, and outputs of tools, each counted once.
 *   Everything else is overhead: the copy of the arguments in the tool's order, usage, ids, the
 *   envelope of each payload and all of Temporal's own events. Baseline: a bare workflow with the
 *   same two activities.
 * - `events_local`: the same with a tool that runs as a local activity.
 * - `drift`: 1,000 iterations with 1 KB results. The last hundred are divided by the first hundred,
 *   in bytes or in events, whichever ratio is further from 1. Every link of the chain is read. An
 *   iteration that ends a link is left out, because `handover_bytes` shows the cost of a hand-over.
 */
import { serveBare } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import {
  iterationsOf,
  readLinks,
  type IterationCost,
  type Link,
} from './support/history-reader.ts';
import { instantAgent } from './support/instant-agent.ts';
import { CALLS, CHAT_BYTES, RESULT_BYTES, runLongChat, runToEnd } from './support/long-chat.ts';

const LONG_RUN = 1_000;
const WINDOW = 100;

/** The benchmark `history`. */
export const historyBench: Bench = {
  name: 'history',
  about: 'bytes and events that a run writes into the history of the service',
  run: () =>
    withStage(async (stage) => [...(await measureChat(stage)), ...(await measureDrift(stage))]),
};

async function measureChat(stage: Stage): Promise<readonly Figure[]> {
  const links = await runLongChat(stage);
  const local = await runLongChat(stage, { local: true });
  const bare = await stageBare(stage);

  const costs = links.flatMap(iterationsOf);
  const total = links.reduce((sum, link) => sum + link.bytes, 0);
  return [
    figure('total_bytes', total, 'B', '<= 1500000', total + repeatedBytes(costs)),
    figure('overhead_bytes', mean(costs, overheadOf), 'B', '<= 3072', mean(bare, overheadOf)),
    figure('events', mean(costs, eventsOf), '', '<= 12', mean(bare, eventsOf)),
    figure('events_local', mean(local.flatMap(iterationsOf), eventsOf), '', '<= 8'),
  ];
}

async function measureDrift(stage: Stage): Promise<readonly Figure[]> {
  const links = await runToEnd(stage, instantAgent('long'), { task: String(LONG_RUN) });
  const costs = links.map(iterationsOf);
  const first = (costs[0] ?? []).slice(0, WINDOW);
  const last = (costs.at(-1) ?? []).slice(-WINDOW);
  if (first.length < WINDOW || last.length < WINDOW) {
    throw new Error(`Expected ${WINDOW} iterations in the first and in the last link.`);
  }
  const ratios = [bytesOf, eventsOf].map((of) => mean(last, of) / mean(first, of));
  const [drift = Number.NaN] = ratios.toSorted((a, b) => Math.abs(b - 1) - Math.abs(a - 1));
  const pace = (part: readonly IterationCost[]): number => median(part.map(({ ms }) => ms));
  const handovers = links.slice(0, -1).map((link, place) => handoverBytes(link, links[place + 1]));
  return [
    figure('drift', drift, 'x', '<= 1.05', 1),
    figure('drift_wall', pace(last) / pace(first), 'x', '', 1),
    figure('links', links.length, ''),
    figure(
      'handover_bytes',
      handovers.reduce((sum, bytes) => sum + bytes, 0),
      'B',
    ),
  ];
}

async function stageBare(stage: Stage): Promise<readonly IterationCost[]> {
  const bare = await serveBare(stage, RESULT_BYTES);
  const links = await readLinks(stage.client, await bare.run(CALLS));
  await bare.stop();
  return links.flatMap(iterationsOf);
}

/** The additional bytes if each call carried the chat and all earlier payloads. */
function repeatedBytes(costs: readonly IterationCost[]): number {
  let conversation = CHAT_BYTES;
  let sum = 0;
  for (const { payloadBytes } of costs) {
    sum += conversation;
    conversation += payloadBytes;
  }
  return sum + conversation;
}

/** The end of a link and the beginning of the next, from the last model call to the first. */
function handoverBytes(link: Link, next: Link | undefined): number {
  const inside = (costs: readonly IterationCost[]): number =>
    costs.reduce((sum, cost) => sum + cost.bytes, 0);
  const nextBytes = next === undefined ? 0 : startBytes(next);
  return link.bytes - startBytes(link) - inside(iterationsOf(link)) + nextBytes;
}

/** Size of a link when its first workflow task began, which is the size of its input. */
function startBytes({ history }: Link): number {
  const first = history.events?.find((event) => event.workflowTaskStartedEventAttributes != null);
  return Number(first?.workflowTaskStartedEventAttributes?.historySizeBytes ?? Number.NaN);
}

function bytesOf({ bytes }: IterationCost): number {
  return bytes;
}

function eventsOf({ events }: IterationCost): number {
  return events;
}

function overheadOf({ bytes, payloadBytes }: IterationCost): number {
  return bytes - payloadBytes;
}

function mean(costs: readonly IterationCost[], of: (cost: IterationCost) => number): number {
  return costs.reduce((sum, cost) => sum + of(cost), 0) / costs.length;
}
