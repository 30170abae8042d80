/**
 * `tree`: what fifty children of twenty iterations cost their parent in history, and the wall time
 * of the whole tree compared with the same tree of bare workflows with the same activities and
 * payloads.
 */
import { serveBare } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { readLinks } from './support/history-reader.ts';
import { instantAgent } from './support/instant-agent.ts';
import { instantParent } from './support/instant-parent.ts';
import { sameActivities } from './support/same-activities.ts';

const CHILDREN = 50;
const ITERATIONS = 20;
const RESULT_BYTES = 1_024;
const PAIRS = 5;
/** The parent's events for one child: it is initiated, it started, it ended. */
const EVENTS_OF_A_CHILD = 3;

/** The benchmark `tree`. */
export const treeBench: Bench = {
  name: 'tree',
  about:
    'fifty children of twenty iterations: history of the parent, wall time over bare workflows',
  run: () => withStage(measure),
};

async function measure(stage: Stage): Promise<readonly Figure[]> {
  const child = instantAgent('instant', { resultBytes: RESULT_BYTES });
  const parent = instantParent('parent', child, { children: CHILDREN, iterations: ITERATIONS });
  const { everloop } = await stage.serve([parent]);
  const bareSide = await serveBare(stage, RESULT_BYTES, await sameActivities(RESULT_BYTES));
  const ratios: number[] = [];
  const times: number[] = [];
  const bareTimes: number[] = [];
  let id = '';
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  const agents = (): Promise<number> =>
    timed(async () => {
      const run = await everloop.start('parent', { task: String(ITERATIONS) });
      id = run.id;
      const step = await run.result();
      if (step.children.length !== CHILDREN || step.status !== 'success') {
        throw new Error(`Expected ${CHILDREN} children and success, got ${JSON.stringify(step)}.`);
      }
    });
  const bare = (): Promise<number> => timed(() => bareSide.runTree(CHILDREN, ITERATIONS));

  await bareSide.runTree(5, 2);
  await agents();
  for (let pair = 0; pair < PAIRS; pair++) {
    const bareMs = await bare();
    const agentMs = await agents();
    ratios.push(agentMs / bareMs);
    times.push(agentMs / 1_000);
    bareTimes.push(bareMs / 1_000);
  }
  await bareSide.stop();
  const links = await readLinks(stage.client, id);
  const events = links.reduce((sum, { history }) => sum + (history.events ?? []).length, 0);
  const bytes = links.reduce((sum, link) => sum + link.bytes, 0);
  return [
    figure('parent_events_per_child', events / CHILDREN - EVENTS_OF_A_CHILD, '', '<= 12'),
    figure('parent_bytes', bytes, 'bytes', '<= 1000000'),
    figure('tree_ratio', median(ratios), 'x', '<= 1.15', 1),
    figure('tree_s', median(times), 's', '', median(bareTimes)),
  ];
}
