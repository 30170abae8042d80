/** Scenes of the head of a run with fixed answers: bars, actions, and how they went. */
import { describe, expect, it } from 'vitest';
import type { RunHeader } from '../../../src/console/api.ts';
import { FIXTURE_NOW } from '../web/fixture-data.ts';
import { answerOf } from '../web/fixture-answers.ts';
import { AIRLINE, CLERK, fixturePages } from './fixture-pages.ts';
import { shownForKeys } from './opened-page.ts';

const { open, server } = fixturePages();
const RUN = decodeURIComponent(CLERK.slice('/runs/'.length));

/** The header of the clerk's run, changed. */
function header(change: Partial<RunHeader>): object {
  const found = answerOf(CLERK, new URLSearchParams(), server().runs) as { run: RunHeader };
  return { run: { ...found.run, ...change } };
}

describe('the head of a run', () => {
  it('shows limits tightest first, what is reserved, and what a limit was before', async () => {
    const line = { origin: 'self' as const, reserved: 0, free: 0 };
    const budgets = [
      { ...line, key: 'agent:model_calls', max: 8, used: 1 },
      { ...line, key: 'agent:total_tokens', max: 1_000, used: 950 },
      { ...line, key: 'agent:cost_microusd', max: 500_000, used: 360_000, reserved: 90_000 },
    ];
    server().answer(`/runs/${RUN}`, header({ budgets }));
    const { page, check } = await open(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await page.getByRole('button', { name: /^History/ }).waitFor();
    const last = server().runs[0]?.events.at(-1);
    if (last === undefined) throw new Error('Expected events.');
    const limits = [{ kind: 'exact', key: 'agent:model_calls', max: 8 }];
    for (const [index, max] of [4, 8].entries()) {
      const event = { ...last, seq: last.seq + 1 + index, at: FIXTURE_NOW, iteration: 1 };
      const adjusted = { ...event, type: 'agent:adjusted', limits: [{ ...limits[0], max }] };
      server().push({ kind: 'event', run: RUN, event: adjusted as never });
    }

    await page.locator('.budget[title$="It was 8, then 4."]').waitFor();
    expect(await page.locator('.budget .muted').allTextContents()).toEqual([
      'Tokens',
      'Cost',
      'Model calls',
      'History',
    ]);
    const tones = await Promise.all(
      [0, 1, 2].map((place) =>
        page.locator('.budget').nth(place).locator('.bar i').first().getAttribute('class'),
      ),
    );
    expect(tones).toEqual(['hot', 'warm', '']);
    expect(await page.locator('.budget .bar .reserved').count()).toBe(1);
    expect(await page.locator('.budget .bar .tick-at').count()).toBe(1);
    await check();
    server().answer(`/runs/${RUN}`, null);
  });

  it('lists the approvals that hold, and revokes one', async () => {
    const { run } = header({}) as { run: RunHeader };
    if (run.status === null) throw new Error('Expected a status.');
    const approvals = [
      { id: '1.1', tool: 'refund', since: FIXTURE_NOW },
      { id: '1.2', tool: 'mail', args: { to: 'ada' }, since: FIXTURE_NOW },
    ];
    const status = { ...run.status, approvals };
    server().answer(`/runs/${RUN}`, header({ state: 'running', step: null, status }));
    const { page, check } = await open(CLERK);
    const list = page.getByRole('list', { name: 'Approvals that hold' });
    await list.getByText('refund always approved').waitFor();
    await check();
    await list.getByRole('listitem').last().getByRole('button', { name: 'Revoke' }).click();

    await expect
      .poll(() => server().actions.at(-1))
      .toMatchObject({ path: expect.stringMatching(/\/revoke$/), body: { id: '1.2' } });
    server().answer(`/runs/${RUN}`, null);
  });

  it('says of a run that is encrypted that the console lacks its key', async () => {
    const message = 'Expected the key `2026`, got none. Set EVERLOOP_KEYS for the console.';
    const partial = [{ part: 'view', code: 'keys_missing', message }];
    const silent = { status: null, step: null, budgets: [], pending: [] };
    const run = header({ state: 'silent', ...silent });
    server().answer(`/runs/${RUN}`, { ...run, partial });
    const { page, check } = await open(CLERK);
    const head = page.locator('.run-head');
    await head.getByText('encrypted', { exact: true }).waitFor();
    await head.getByText('cannot be read here').waitFor();
    await page
      .getByRole('alert')
      .getByText(/the console cannot read it.*key.*2026/)
      .waitFor();
    await check();
    server().answer(`/runs/${RUN}`, null);
  });

  it('has a timeline that a drag and the wheel enlarge, and 0 shows whole again', async () => {
    const { page } = await open(AIRLINE);
    const plot = page.locator('.plot');
    await plot.waitFor();
    const { x = 0, y = 0, width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
    const whole = page.getByRole('button', { name: /^Show all/ });
    await page.mouse.move(x + width / 2, y + height - 4);
    await page.mouse.down();
    await page.mouse.move(x + width - 20, y + height - 4);
    await page.mouse.move(x + width + 60, y + height + 40);
    await page.mouse.up();
    await whole.waitFor();
    expect(await page.locator('.span').count()).toBeLessThan(12);
    await page.keyboard.press('0');
    await whole.waitFor({ state: 'detached' });
    await page.mouse.move(x + width / 2, y + height - 4);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await whole.waitFor();
    for (let turn = 0; turn < 3; turn++) await page.mouse.wheel(0, 200);
    await whole.waitFor({ state: 'detached' });
    await page.keyboard.up('Control');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('cell', { name: /worker 15401 lost/ }).waitFor();
  });

  it('says how many runs below end with it, and what a refused action heard', async () => {
    const below = ['1.1', '1.2'].map((call) => ({ id: `${RUN}/${call}`, state: 'running' }));
    server().answer(`/runs/${RUN}`, header({ liveChildren: 2 }));
    server().answer(`/runs/${RUN}/tree`, { runs: [{ id: RUN, state: 'running' }, ...below] });
    const { page, check } = await open(CLERK, { mayFail: '/send' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('2 runs below it end too.').waitFor();
    await check();
    await page.keyboard.press('Escape');

    await shownForKeys(page);
    await page.keyboard.press('p');
    await page.getByRole('radio', { name: 'This run', exact: true }).check();
    await page.getByRole('button', { name: 'Pause', exact: true }).last().click();
    await page.getByText('Accepted: it pauses before the next iteration.').waitFor();
    expect(server().actions.at(-1)).toMatchObject({ body: { tree: false } });

    server().refuse(`/runs/${RUN}/send`, { code: 'run_ended', message: 'It has ended.' });
    await shownForKeys(page);
    await page.keyboard.press('s');
    await page.getByLabel('Text').fill('Hurry.');
    await page.getByRole('button', { name: 'Send', exact: true }).last().click();
    await page.getByRole('dialog').getByText('It has ended.').waitFor();
    await check();
    server().answer(`/runs/${RUN}`, null);
    server().answer(`/runs/${RUN}/tree`, null);
  });
});
