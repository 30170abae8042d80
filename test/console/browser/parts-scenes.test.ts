/** Scenes of the parts of a run with fixed answers: tree, prompt, calls. */
import { describe, expect, it } from 'vitest';
import type { TreeRunsAnswer } from '../../../src/console/api.ts';
import { answerOf } from '../web/fixture-answers.ts';
import { AIRLINE, CLERK, fixturePages, TREE } from './fixture-pages.ts';

const { open, server } = fixturePages();

describe('the parts of a run', () => {
  it('show a tree as it changes, with what is used, reserved and free', async () => {
    const { runs } = answerOf(
      `${TREE}/tree`,
      new URLSearchParams(),
      server().runs,
    ) as TreeRunsAnswer;
    const [top] = runs;
    if (top === undefined) throw new Error('Expected a tree.');
    const header = answerOf(TREE, new URLSearchParams(), server().runs) as { run: object };
    const live = { run: { ...header.run, state: 'running', step: null } };
    server().answer(TREE, live);
    const { page, check } = await open(`${TREE}?tab=tree`);
    await page
      .getByRole('cell', { name: /6, 94 free/ })
      .first()
      .waitFor();
    const line = { key: 'agent:cost_microusd', origin: 'self' as const, max: 500_000 };
    const budgets = [{ ...line, used: 100_000, reserved: 50_000, free: 350_000 }];
    const tree = [{ ...top, state: 'running' as const, children: [], budgets }];
    server().push({ kind: 'tree', run: top.id, runs: tree });

    await page.getByText('+ $0.05 reserved, $0.35 free').waitFor();
    expect(await page.locator('.tree tbody tr').count()).toBe(1);
    await check();
    server().answer(TREE, null);
  });

  it('ask only the open branches of a large tree', async () => {
    const header = answerOf(TREE, new URLSearchParams(), server().runs) as { run: object };
    const line = { key: 'agent:children', origin: 'self', max: 500, used: 300, reserved: 0 };
    server().answer(TREE, { run: { ...header.run, budgets: [{ ...line, free: 200 }] } });
    const { runs } = answerOf(
      `${TREE}/tree`,
      new URLSearchParams(),
      server().runs,
    ) as TreeRunsAnswer;
    const near = runs.filter(({ id }) => id.split('/').length <= 2);
    server().answer(`${TREE}/tree`, { runs: near });
    server().answer(`${TREE}/1.1/tree`, {
      runs: runs.filter(({ id }) => id.startsWith('top-31/1.1')),
    });
    const { page, check } = await open(`${TREE}?tab=tree`);
    await page.getByText('only open branches are asked').waitFor();
    await expect.poll(() => page.locator('.tree tbody tr').count()).toBe(3);
    await page.getByRole('button', { name: 'Show the runs below middle' }).first().click();

    await expect.poll(() => page.locator('.tree tbody tr').count()).toBe(5);
    await check();
    for (const path of [TREE, `${TREE}/tree`, `${TREE}/1.1/tree`]) server().answer(path, null);
  });

  it('let one choose an earlier program', async () => {
    const ended = { since: 0, endedAt: 1, outcome: 'value', fuel: 1, calls: 0 };
    const programOf = (iteration: number) => ({ ...ended, iteration, programId: `${iteration}.p` });
    const few = { programs: [1, 2].map(programOf) };
    server().answer(`${CLERK}/programs`, few);
    const { page, check } = await open(`${CLERK}?tab=program`);
    const programs = page.getByRole('navigation', { name: 'Programs of this run' });

    await programs.getByRole('button', { name: '2.p' }).click();
    await page.getByRole('region', { name: 'Program 2.p' }).waitFor();
    expect(new URL(page.url()).searchParams.get('program')).toBe('2.p');
    expect(await programs.getByRole('button', { name: '2.p' }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await check();

    const many = { programs: Array.from({ length: 12 }, (_, index) => programOf(index + 1)) };
    server().answer(`${CLERK}/programs`, many);
    await page.reload();
    await page.getByLabel('Programs of this run').selectOption('11.p');
    await page.getByRole('region', { name: 'Program 11.p' }).waitFor();
    await check();
    server().answer(`${CLERK}/programs`, null);
  });

  it('say what the prompt has and the transcript has not, and the reverse', async () => {
    const { page, check } = await open(`${AIRLINE}?tab=prompt`);
    await page.getByText('not in the transcript').waitFor();
    await page.getByText('2 messages of the transcript are not in it').click();

    expect(await page.getByText('left out', { exact: true }).count()).toBe(2);
    await page.getByRole('region', { name: 'Tokens of each part' }).getByText('tools').waitFor();
    await check();
  });

  it('show calls that ran at the same time together, and the effect of each', async () => {
    const tools = [{ name: 'get_flight_info', description: '', effect: 'read' }];
    server().answer('/agents', { agents: [{ name: 'airline-yaml', tools }] });
    const { page, check } = await open(AIRLINE);
    const group = page.getByRole('group', { name: '3 calls at the same time' }).first();
    await group.getByText('get_flight_info').click();

    await group.getByText(/effect read/).waitFor();
    await check();
    server().answer('/agents', null);
  });
});
