/** Runs of a tree as a client sees them, made by hand. */
import type { TreeRun } from '../../src/client/tree-run.ts';
import { STEP } from '../cli/cli-fixture.ts';

/** A run that works, with nothing used; `parts` say what is different. */
export function treeRun(id: string, parts: Partial<TreeRun> = {}): TreeRun {
  return {
    id,
    agent: 'agent',
    path: 'agent',
    depth: 0,
    parent: null,
    children: [],
    state: 'running',
    iteration: 1,
    waitsFor: [],
    usage: STEP.usage,
    stats: null,
    budgets: [],
    ...parts,
  };
}
