/** History → state: the moments of every recorded history, got by a replay with today's code. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_PROTECTION } from '../../src/protection/protection.ts';
import { createTape } from '../../src/core/fork/tape.ts';
import { forkState } from '../../src/core/fork/fork-state.ts';
import {
  headDigest,
  messagesDigest,
  scratchpadMessages,
  type RunState,
} from '../../src/core/run/run-state.ts';
import { PROBE_WORKFLOW } from '../../src/core/contract/messages.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { createReplayer, type Replayer } from '../../src/worker/states/replayer.ts';
import { bundleFolder } from '../support/bundles.ts';
import { extentOf } from '../support/extent.ts';
import { RECORDINGS } from '../support/recordings.ts';

interface Started {
  readonly workflowExecutionStartedEventAttributes: {
    readonly workflowId: string;
    workflowType: { name: string };
  };
}

async function probedHistory(
  name: string,
): Promise<{ workflowId: string; history: { events: object[] } }> {
  const file = new URL(`../histories/${name}.json`, import.meta.url);
  const history = JSON.parse(await readFile(file, 'utf8')) as { events: object[] };
  const started = (history.events[0] as Started).workflowExecutionStartedEventAttributes;
  started.workflowType.name = PROBE_WORKFLOW;
  return { workflowId: started.workflowId, history };
}

const own = RECORDINGS.filter(
  ({ workflowsPath, isOther }) => workflowsPath === undefined && isOther !== true,
);

let replayer: Replayer;
beforeAll(async () => {
  installRuntime({ logLevel: 'ERROR' });
  const bundle = await loadWorkflowBundle({ cacheDir: await bundleFolder() });
  replayer = createReplayer(bundle, NO_PROTECTION);
});
afterAll(() => replayer?.close());

describe('a replay under the probe', () => {
  it.each(extentOf(own, 3))('of $name gives its states', async ({ name }) => {
    const { probe, boundaries } = createTape();
    const run = await probedHistory(name);

    expect(await replayer.replay(run, probe)).toBeUndefined();

    for (const { state, iteration } of boundaries) {
      const { mark, head, scratchpad } = state as RunState;
      expect(iteration).toBe((state as RunState).iteration + 1);
      expect(mark.length).toBe(scratchpadMessages(state as RunState).length);
      expect(mark.digest).toBe(
        messagesDigest(
          headDigest(head),
          scratchpad.flatMap(({ messages }) => messages),
        ),
      );
      const forked = forkState(state as RunState, {
        identity: { runId: 'fork', agentPath: 'a', depth: 0, startedAt: 0 },
        origin: { workflowId: run.workflowId, runId: 'r', executionId: 'e' },
        stats: 'keep',
      });
      expect(forked).toMatchObject({ kind: 'forked', state: { mark, scratchpad, runId: 'fork' } });
    }
  });

  it('of a history that was cut gives the same states as far as it goes', async () => {
    const whole = createTape();
    const cut = createTape();
    const run = await probedHistory('react-parallel-tools');
    await replayer.replay(run, whole.probe);
    const { events } = run.history;
    const end = events.findIndex(
      (event, at) => at > events.length * 0.6 && 'workflowTaskCompletedEventAttributes' in event,
    );
    await replayer.replay({ ...run, history: { events: events.slice(0, end + 1) } }, cut.probe);

    const { length } = cut.boundaries;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(whole.boundaries.length);
    expect(cut.boundaries).toEqual(whole.boundaries.slice(0, length));
  });

  it('says where the code differs, and goes on with the next history', async () => {
    const run = await probedHistory('chat');
    const events = run.history.events as {
      activityTaskScheduledEventAttributes?: { activityType: { name: string } };
    }[];
    const scheduled = events.find(
      (event) => event.activityTaskScheduledEventAttributes !== undefined,
    );
    if (scheduled?.activityTaskScheduledEventAttributes === undefined) throw new Error('no call');
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'callTool';

    expect(String(await replayer.replay(run, createTape().probe))).toContain('TMPRL1100');
    const next = createTape();
    expect(await replayer.replay(await probedHistory('chat'), next.probe)).toBeUndefined();
    expect(next.boundaries.length).toBeGreaterThan(1);
  });
});
