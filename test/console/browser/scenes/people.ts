/** Scenes in which people answer: by keys alone, two at once, within a program, on a phone. */
import { expect, it } from 'vitest';
import { goToInbox, shownForKeys } from '../opened-page.ts';
import { pageOf, type SceneStage } from './scene-stage.ts';

/** Adds the scenes. */
export function peopleScenes(stage: () => SceneStage): void {
  it('answers from the inbox by keys alone, while the command line answers another item', async () => {
    const { start, open, cli } = stage();
    const run = await start('clerk', 'Pay what is due.');
    await run.resultOrPending();
    const { page, check } = await open('/');
    await page.getByRole('link', { name: 'Pay what is due.' }).waitFor();
    await goToInbox(page);
    const items = page.getByRole('navigation', { name: 'Waiting' }).getByRole('link');
    await expect.poll(() => items.count()).toBe(3);
    const opened = page.getByRole('region', { name: 'Open item' });
    const moveTo = async (name: string): Promise<void> => {
      for (const key of ['k', 'k', 'k', 'j', 'j', 'j']) {
        if (await opened.getByRole('article', { name }).isVisible()) return;
        await page.keyboard.press(key);
      }
      await opened.getByRole('article', { name }).waitFor();
    };
    await moveTo('question q1');
    await cli('answer', run.id, 'q1', 'John Doe');
    await page.getByText('That item was answered elsewhere.').waitFor();
    await check();

    await moveTo('approval 1.2');
    await shownForKeys(page);
    await page.keyboard.press('d');
    await page.keyboard.type('a is no key in a field');
    await page.keyboard.press('Enter');
    await expect.poll(() => items.count()).toBe(1);
    await moveTo('external 1.3');
    const result = page.locator('textarea:focus');
    while ((await result.count()) === 0) await page.keyboard.press('Tab');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('"built"');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for a person.').waitFor();
    const { status } = await run.result();
    expect(status).toBe('success');
    const decided = (await run.events()).filter(({ type }) => type === 'agent:approval:decided');
    expect(decided).toMatchObject([{ decision: 'deny', reason: 'a is no key in a field' }]);
    await check();
  });

  it('lets one of two people win who answer at once, on a phone, and tells the other', async () => {
    const { start, open } = stage();
    const run = await start('clerk', 'Pay one of them.');
    await run.resultOrPending();
    const phone = { width: 390, height: 844, mayFail: '/decide' };
    const [one, other] = await Promise.all([open(pageOf(run), phone), open(pageOf(run), phone)]);
    const cards = [one, other].map(({ page }) =>
      page.getByRole('article', { name: 'approval 1.2' }),
    );
    await Promise.all(cards.map((card) => card.waitFor()));
    for (const { page } of [one, other]) {
      const [wide, inner] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, innerWidth]',
      );
      expect(wide).toBeLessThanOrEqual(inner);
    }
    await one.check();
    // The request of the second waits on its way until the first has been answered.
    let deliver = (): void => undefined;
    const delivered = new Promise<void>((resolve) => (deliver = resolve));
    await other.page.route('**/decide', async (route) => {
      await delivered;
      await route.continue();
    });
    const [first, second] = cards;
    await second?.getByRole('button', { name: 'Approve' }).click();
    await first?.getByRole('button', { name: 'Deny' }).click();
    await one.page.getByLabel('Reason, which the model reads').fill('I was first.');
    await one.page.getByRole('button', { name: 'Deny', exact: true }).last().click();
    await first?.waitFor({ state: 'detached' });
    deliver();
    await other.page.locator('.toast').getByText(/1\.2/).waitFor();
    await second?.waitFor({ state: 'detached' });
    const events = await run.events();
    const decisions = events.filter(({ type }) => type === 'agent:approval:decided');
    expect(decisions).toHaveLength(1);
    await run.cancel();
  });

  it('turns the forms of a program from waiting to done, answered beside them', async () => {
    const { start, open } = stage();
    const run = await start('refunder', 'Refund the late orders of May.');
    const { page, check } = await open(pageOf(run, '?tab=program'), { scheme: 'dark' });
    const waiting = page.locator('.form.waiting');
    await waiting.getByText('tool/refund').waitFor();
    expect(await page.locator('.form.done').count()).toBe(2);
    await check();
    await page.getByRole('region', { name: 'Waits for you' }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('a');
    await shownForKeys(page);
    await page.keyboard.press('Enter');
    await waiting.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.form.done').count()).toBe(4);
    await page.locator('.run-head').getByText('success').waitFor();
    await check();
  });
}
