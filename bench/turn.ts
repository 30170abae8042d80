/**
 * `turn`: the wall time of an agent's iteration compared with a bare workflow with the same two
 * activities and payloads, alternating in one run, then with forty at once. The agent's tool only
 * reads and is in its default. In `react`, where the loop reads the calls out of a text, the worker
 * runs it as a local activity once it knows it: `wall_ratio` and `events`. In `chat`, the mode of an
 * agent that names none, it runs beside the reply: `wall_ratio_chat` and `events_chat`.
 *
 * The two activities are those of a worker, `callModel` and `callTool`, with an instant model and
 * an instant tool: see `same-activities.ts`. `wall_ratio_constant` is stricter and has no goal. It
 * compares with activities that return a constant at once, so that the work of our activities
 * (finding the transcript, building the request, checking arguments) counts as overhead too.
 */
import type { Everloop } from '../src/client/everloop-client.ts';
import { serveBare, type BareSide } from './support/bare-worker.ts';
import { iterationsOf, readLinks } from './support/history-reader.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { instantAgent } from './support/instant-agent.ts';
import { fleetMs, runInstant } from './support/instant-runs.ts';
import { sameActivities } from './support/same-activities.ts';

const RESULT_BYTES = 1_024;
const PAIRS = 16;
const TURNS = 50;
const FLEET = 40;
const FLEET_TURNS = 20;

/** Calls after which a worker knows its tool: until then they are regular activities. */
const WARM_UP = 20;

/** The benchmark `turn`. */
export const turnBench: Bench = {
  name: 'turn',
  about: 'wall time of an iteration over a bare workflow with the same activities',
  run: () => withStage(measure),
};

async function measure(stage: Stage): Promise<readonly Figure[]> {
  const agentSide = await stage.serve([instantAgent('instant', { local: 'auto' })], {
    taskQueue: 'agents',
  });
  const bareSide = await serveBare(stage, RESULT_BYTES, await sameActivities(RESULT_BYTES));
  const constantSide = await serveBare(stage, RESULT_BYTES);
  const chat = instantAgent('instant', { mode: 'chat', local: 'auto' });
  const chatSide = await stage.serve([chat], { taskQueue: 'chats' });
  // Its limit ends it before an answer, so it makes as many calls as the bare workflow.
  const agent = (turns: number): Promise<number> => fleetMs(agentSide.everloop, 1, turns);
  const timeOf = async (side: BareSide, turns: number): Promise<number> => {
    const startedAt = performance.now();
    await side.run(turns);
    return performance.now() - startedAt;
  };
  const bare = (turns: number): Promise<number> => timeOf(bareSide, turns);

  await agent(WARM_UP + 5);
  await fleetMs(chatSide.everloop, 1, 5);
  await bare(5);
  await timeOf(constantSide, 5);
  const ratios: number[] = [];
  const constantRatios: number[] = [];
  const chatRatios: number[] = [];
  const agentTimes: number[] = [];
  const bareTimes: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each side goes first in half of the pairs: the second finds the service busy with the first.
    const bareFirst = pair % 2 === 1 ? await bare(TURNS) : null;
    const agentMs = await agent(TURNS);
    const bareMs = bareFirst ?? (await bare(TURNS));
    ratios.push(agentMs / bareMs);
    chatRatios.push((await fleetMs(chatSide.everloop, 1, TURNS)) / bareMs);
    constantRatios.push(agentMs / (await timeOf(constantSide, TURNS)));
    agentTimes.push(agentMs / TURNS);
    bareTimes.push(bareMs / TURNS);
  }

  const fleets: number[] = [];
  let bareRate = 0;
  for (let pair = 0; pair < 3; pair++) {
    const agentMs = await fleetMs(agentSide.everloop, FLEET, FLEET_TURNS);
    const bareMs = await inFleet(() => bare(FLEET_TURNS));
    fleets.push(bareMs / agentMs);
    bareRate = (FLEET * FLEET_TURNS * 1_000) / bareMs;
  }
  const events = await eventsOf(stage, agentSide.everloop);
  const chatEvents = await eventsOf(stage, chatSide.everloop);
  await bareSide.stop();
  await constantSide.stop();
  return [
    figure('wall_ratio', median(ratios), 'x', '<= 0.75', 1),
    figure('wall_ratio_chat', median(chatRatios), 'x', '<= 0.75', 1),
    figure('wall_ratio_constant', median(constantRatios), 'x', '', 1),
    figure('events', events, '', '<= 7', 12),
    figure('events_chat', chatEvents, '', '<= 7', 12),
    figure('turn_ms', median(agentTimes), 'ms', '', median(bareTimes)),
    figure('fleet_ratio', median(fleets), 'x', '>= 0.9', 1),
    figure('fleet_turns_per_s', bareRate * median(fleets), '1/s', '', bareRate),
  ];
}

/** Events that a turn adds to the history. */
async function eventsOf(stage: Stage, everloop: Everloop): Promise<number> {
  const links = await readLinks(stage.client, await runInstant(everloop, TURNS));
  return median(links.flatMap(iterationsOf).map((iteration) => iteration.events));
}

async function inFleet(one: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: FLEET }, one));
  return performance.now() - startedAt;
}
