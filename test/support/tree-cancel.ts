/** A tree of three levels whose leaves all sit in a model call over HTTP, and what a cancel makes of it. */
import type { Client } from '@temporalio/client';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { TreeRun } from '../../src/client/tree-run.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { modelAt } from './aimock.ts';
import { eventually } from './eventually.ts';
import { startSlowProvider, type SlowProvider } from './slow-provider.ts';
import { asker } from './tree-agents.ts';

/** Middles under the root, and leaves under each: 20 model calls at once. */
export const CANCEL_WIDTH = { middles: 4, leaves: 5 } as const;

const LEAVES = CANCEL_WIDTH.middles * CANCEL_WIDTH.leaves;

/** The root of a tree whose leaves ask the provider at `url`. */
export function slowTree(url: string): AgentDefinition {
  const model = { id: 'slow', model: modelAt(url, 'openai-compatible') };
  const leaf = defineAgent({ name: 'leaf', mode: 'react', model });
  return asker(asker(leaf, CANCEL_WIDTH.leaves, 'middle'), CANCEL_WIDTH.middles, 'top');
}

/** A provider that answers nobody to the end. */
export function startEndlessProvider(): Promise<SlowProvider> {
  return startSlowProvider([{ kind: 'never ends' }]);
}

/** What came of a canceled tree. */
export interface CanceledTree {
  /** From the wish to the end of the last HTTP request. */
  readonly abortedMs: number;
  /** From the wish to the Step of the root. */
  readonly endedMs: number;
  readonly aborted: number;
  readonly root: Step;
  readonly runs: readonly TreeRun[];
  /** Workflows of the tree that still run. */
  readonly running: readonly string[];
  /** Activities of the tree that nobody has ended. */
  readonly pendingActivities: number;
}

/** Starts a tree, waits until all leaves are in their call, cancels the root, and looks at what is left. */
export async function cancelTree(
  { everloop, client }: { readonly everloop: Everloop; readonly client: Client },
  { requests, abortedAt }: SlowProvider,
): Promise<CanceledTree> {
  const [asked, aborted] = [requests.length, abortedAt.length];
  const run = await everloop.start('top', { task: 'Go' });
  await eventually(`${LEAVES} model calls`, () => requests.length - asked === LEAVES, 60_000);

  const canceledAt = Date.now();
  await run.cancel('changed my mind');
  const root = await run.result();
  const endedMs = Date.now() - canceledAt;

  const ends = abortedAt.slice(aborted);
  const runs = await run.tree();
  const described = await Promise.all(
    runs.map(({ id }) => client.workflow.getHandle(id).describe()),
  );
  return {
    abortedMs: Math.max(...ends) - canceledAt,
    endedMs,
    aborted: ends.length,
    root,
    runs,
    running: described
      .filter(({ status }) => status.name === 'RUNNING')
      .map(({ workflowId }) => workflowId),
    pendingActivities: described.reduce(
      (sum, { raw }) => sum + (raw.pendingActivities?.length ?? 0),
      0,
    ),
  };
}
