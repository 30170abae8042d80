/**
 * What time travel costs. Runs of a link of about 300 events have ended. `at_ms_300_events`
 * is the time of `run.at` for a moment of a run that the worker has not looked at, from the call to
 * the answer, on a worker that has replayed before: the median of ten runs. `at_again_ms` is that of
 * further moments of one run, which the worker has kept. `fork_to_first_call_ms` is the time from the call of
 * `everloop.fork` to the first request to the model. `normal_run_bytes_added` is by how much the
 * history of a run that nobody forks is larger with the hook than without it: the bytes of all its
 * events that name forks, probes or moments.
 *
 * Not measured: the first replay of a process, which takes a second or two more; links of other sizes.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Stage } from '../support/bench-stage.ts';
import { figure, median, type Figure } from '../support/figure.ts';

/** An iteration with a call is about twelve events. */
const ITERATIONS = 24;

const LOOKS = 10;

/** The figures of moments and forks. */
export async function measureMoments(stage: Stage): Promise<readonly Figure[]> {
  let onRequest = (): void => undefined;
  const model = {
    id: 'm',
    model: async ({ iteration }: { readonly iteration: number }) => {
      onRequest();
      return iteration > ITERATIONS ? '<answer>done</answer>' : callOf(iteration);
    },
  };
  const agent = defineAgent({
    name: 'looker',
    mode: 'react',
    tools: [lookTool],
    model,
    limits: { iterations: ITERATIONS + 2 },
  });
  const { everloop } = await stage.serve([agent]);
  const started = Array.from({ length: LOOKS + 1 }, () =>
    everloop.start('looker', { task: 'Look' }),
  );
  const runs = await Promise.all(started);
  for (const one of runs) await one.result();
  const [run, ...others] = runs;
  if (run === undefined) throw new Error('Expected a run.');
  const events = (await run.links())[0]?.events ?? 0;
  await run.at({ iteration: 2 });
  const looks: number[] = [];
  for (const other of others) looks.push(await lookMs(other, ITERATIONS / 2));
  const again: number[] = [];
  for (let look = 0; look < LOOKS; look++) again.push(await lookMs(run, 2 + look * 2));
  const forks: number[] = [];
  for (let fork = 0; fork < LOOKS; fork++) {
    const asked = new Promise<number>((resolve) => {
      onRequest = () => resolve(performance.now());
    });
    const startedAt = performance.now();
    const handle = await everloop.fork({ run: run.id, at: { iteration: ITERATIONS } });
    forks.push((await asked) - startedAt);
    await handle.result();
  }
  return [
    figure('events', events, '', ''),
    figure('at_ms_300_events', median(looks), 'ms', '<= 600'),
    figure('at_again_ms', median(again), 'ms'),
    figure('fork_to_first_call_ms', median(forks), 'ms', '<= 1500'),
    figure('normal_run_bytes_added', await bytesAdded(stage, run), 'B', '<= 0'),
  ];
}

/** How long a look at a moment of a run takes. */
async function lookMs(run: RunHandle, iteration: number): Promise<number> {
  const startedAt = performance.now();
  await run.at({ iteration });
  return performance.now() - startedAt;
}

const lookTool = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: { at: { type: 'number' } } },
  effect: 'read',
  execute: ({ at }: { readonly at?: number }) => `seen ${at}`,
});

function callOf(iteration: number): string {
  return `<action>\n- tool: look\n  args:\n    at: ${iteration}\n</action>`;
}

/** The bytes of the events of a run that are about forks. */
async function bytesAdded({ client }: Stage, { id }: RunHandle): Promise<number> {
  const history = await client.workflow.getHandle(id).fetchHistory();
  const { events } = JSON.parse(historyToJSON(history)) as { readonly events: readonly object[] };
  const about = events.filter((event) => {
    const text = JSON.stringify(event).replaceAll(/"data":\s*"([^"]*)"/g, (_all, data: string) =>
      Buffer.from(data, 'base64').toString(),
    );
    return /loadFork|viewMoment|agentProbe|readMoment|forkedFrom|"fork"/.test(text);
  });
  return about.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
}
