/** `everloop budget` on a real server: figures of each branch while its runs work, wait and end. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { eventually } from '../support/eventually.ts';
import { act, answer, gate, searchTool, type Gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { delegate, player } from '../support/trees.ts';
import { cli } from './cli-fixture.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** The rows of a table below its head, in cells: two blanks or more stand between them. */
function rowsOf(table: string): readonly (readonly string[])[] {
  const [, ...rows] = table.trimEnd().split('\n');
  return rows.map((row) => row.trim().split(/ {2,}/));
}

/** An agent that searches until its last iteration; the model waits in those that have a gate. */
function searcher(
  name: string,
  iterations: number,
  gates: { readonly [iteration: number]: Gate },
): AgentDefinition {
  return player(
    name,
    async ({ iteration }) => {
      await gates[iteration]?.opened;
      return iteration < iterations ? act(`step ${iteration}`) : answer();
    },
    { tools: [searchTool()] },
  );
}

it('shows what is used, reserved and free, per branch [row 57]', { timeout: 180_000 }, async () => {
  const [quickMay, slowMay, slowMayEnd] = [gate(), gate(), gate()];
  const children = [
    searcher('quick', 2, { 1: quickMay }),
    searcher('slow', 3, { 1: slowMay, 3: slowMayEnd }),
  ];
  const top = player(
    'top',
    ({ iteration }) => (iteration === 1 ? delegate(['quick', 'a'], ['slow', 'b']) : answer()),
    { children },
  );
  const { everloop } = await stage.serve([top]);
  const limits = { modelCalls: 13, totalTokens: 13_000, costUsd: null };
  const run = await everloop.start('top', { task: 'Go', limits });
  const shown = async (id = run.id): Promise<readonly (readonly string[])[]> => {
    const { exitCode, stdout } = await cli(['budget', id], { everloop });
    expect(exitCode).toBe(0);
    return rowsOf(stdout);
  };
  /** Model calls that the root knows of. */
  const used = async (): Promise<number | undefined> => (await run.tree())[0]?.usage.modelCalls;
  /** Until `agent` is in the model call of `iteration`. */
  const until = (agent: string, iteration: number): Promise<unknown> =>
    eventually(`${agent} in iteration ${iteration}`, async () =>
      (await run.tree()).some(
        (one) =>
          one.agent === agent &&
          one.iteration === iteration &&
          one.waitsFor[0] === `model ${agent}/m`,
      ),
    );

  await until('quick', 1);
  await until('slow', 1);
  // What is left is shared: a third for each, and one stays. A call in flight is reserved, with all
  // tokens that it may write.
  const slowly = [
    ['└─ slow', '1.2', 'agent:children', 'own', '100', '0', '0', '100'],
    ['agent:children', 'top', '33', '0', '0', '33'],
    ['agent:total_tokens', 'top', '4,300', '0', '4,300', '0'],
    ['agent:model_calls', 'top', '4', '0', '1', '3'],
  ];
  expect(await shown()).toEqual([
    ['top', run.id, 'agent:children', 'own', '100', '2', '65', '33'],
    ['agent:total_tokens', 'own', '13,000', '100', '8,600', '4,300'],
    ['agent:model_calls', 'own', '13', '1', '8', '4'],
    ['├─ quick', '1.1', 'agent:children', 'own', '100', '0', '0', '100'],
    ['agent:children', 'top', '32', '0', '0', '32'],
    ['agent:total_tokens', 'top', '4,300', '0', '4,300', '0'],
    ['agent:model_calls', 'top', '4', '0', '1', '3'],
    ...slowly,
  ]);
  expect((await shown(`${run.id}/1.2`)).slice(1)).toEqual(slowly.slice(1));

  quickMay.open();
  await eventually('the end of quick', async () => (await used()) === 3);
  // Two calls and 200 tokens of it were spent, the rest is free again.
  expect(await shown()).toEqual([
    ['top', run.id, 'agent:children', 'own', '100', '2', '33', '65'],
    ['agent:total_tokens', 'own', '13,000', '300', '4,300', '8,400'],
    ['agent:model_calls', 'own', '13', '3', '4', '6'],
    ...slowly,
  ]);

  slowMay.open();
  await until('slow', 3);
  // A child that works says now and then how it stands: what it has spent is reserved until then.
  await eventually('a report of slow', async () => (await used()) === 5, 90_000);
  expect(await shown()).toEqual([
    ['top', run.id, 'agent:children', 'own', '100', '2', '33', '65'],
    ['agent:total_tokens', 'own', '13,000', '500', '4,100', '8,400'],
    ['agent:model_calls', 'own', '13', '5', '2', '6'],
    ['└─ slow', '1.2', 'agent:children', 'own', '100', '0', '0', '100'],
    ['agent:children', 'top', '33', '0', '0', '33'],
    ['agent:total_tokens', 'top', '4,300', '200', '4,100', '0'],
    ['agent:model_calls', 'top', '4', '2', '1', '1'],
  ]);

  slowMayEnd.open();
  expect((await run.result()).usage).toMatchObject({ modelCalls: 7, totalTokens: 700 });
});
