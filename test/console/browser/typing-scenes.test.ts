/**
 * Scenes in which somebody types at once, without waiting for the page, which is slow: nothing that
 * was typed may approve, answer or steer.
 */
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { InboxAnswer, InboxRow } from '../../../src/console/api.ts';
import { extent } from '../../support/extent.ts';
import { answerOf } from '../web/fixture-answers.ts';
import { CLERK, fixturePages } from './fixture-pages.ts';
import { shownForKeys } from './opened-page.ts';

const { open, server } = fixturePages();

const REASON = 'a is no key in a field, data';

/** How often each is typed. */
const TIMES = extent(200, 3);

/** Slow pages on a busy machine. */
const TIMEOUT_MS = 60_000 + TIMES * 5_000;

/** Makes the page as slow as on a machine with a sixth of the speed. */
async function slowDown(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setCPUThrottlingRate', { rate: 6 });
}

/** The first item of the fixtures, which is a payment, as another. */
function paymentOf(order: string): InboxRow {
  const answer = answerOf('/inbox', new URLSearchParams(), server().runs) as InboxAnswer;
  const [row] = answer.items;
  if (row?.item.kind !== 'approval') throw new Error('Expected an approval.');
  return { ...row, item: { ...row.item, id: order, args: { order } } };
}

/** Opens the inbox with one payment; the next one takes its place when it is decided or shown. */
async function openInbox(first: InboxRow): Promise<Page> {
  server().answer('/inbox', { items: [first], silent: [], more: 0 });
  const { page } = await open('/inbox');
  await page.getByText(`"${first.item.id}"`, { exact: true }).waitFor();
  await slowDown(page);
  return page;
}

/** Puts `next` in the place of `before`. */
function replace(before: InboxRow, next: InboxRow): void {
  server().push({ kind: 'pending', ...next });
  server().push({ kind: 'settled', run: before.run, id: before.item.id });
}

const sentSince = (count: number): readonly Record<string, unknown>[] =>
  server()
    .actions.slice(count)
    .map(({ body }) => body);

describe('what is typed at once', { timeout: TIMEOUT_MS }, () => {
  it('denies with the whole reason, however slow the page is', async () => {
    const page = await openInbox(paymentOf('P-0'));
    const before = server().actions.length;
    for (let turn = 0; turn < TIMES; turn++) {
      await page.getByText(`"P-${turn}"`, { exact: true }).waitFor();
      server().push({ kind: 'pending', ...paymentOf(`P-${turn + 1}`) });
      await shownForKeys(page);
      await page.keyboard.type(`d${REASON}`);
      await page.keyboard.press('Enter');
    }
    await expect.poll(() => sentSince(before)).toHaveLength(TIMES);
    for (const { decision } of sentSince(before)) expect(decision).toEqual({ deny: REASON });
  });

  it('edits the arguments in their field, and nothing is approved unless its button is pressed', async () => {
    const page = await openInbox(paymentOf('E-0'));
    const before = server().actions.length;
    for (let turn = 0; turn < TIMES; turn++) {
      await shownForKeys(page);
      await page.keyboard.type(`e${REASON}`);
      const field = page.getByLabel('order', { exact: true });
      expect(await field.inputValue()).toBe(`E-0${REASON}`);
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
    }
    expect(sentSince(before)).toEqual([]);
  });

  it('decides nothing while one item takes the place of another', async () => {
    let row = paymentOf('N-0');
    const page = await openInbox(row);
    const before = server().actions.length;
    for (let turn = 1; turn <= TIMES; turn++) {
      const next = paymentOf(`N-${turn}`);
      replace(row, next);
      row = next;
      if (turn % 2 === 0) await page.getByText(`"N-${turn}"`, { exact: true }).waitFor();
      await page.keyboard.type(turn % 3 === 0 ? 'approve data' : `d${REASON}`);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
    }
    for (const { decision } of sentSince(before)) expect(decision).not.toHaveProperty('approve');
  });

  it('answers no question that takes an answer in words, by a digit that begins it', async () => {
    const question: InboxRow = {
      run: 'clerk-1',
      agent: 'clerk',
      task: 'Book it.',
      item: {
        kind: 'question',
        id: 'q1',
        agent: 'clerk',
        question: 'Which seats?',
        options: ['Window', 'Aisle'],
        free: true,
        path: '',
        run: 'clerk-1',
        since: 1,
      },
    };
    server().answer('/inbox', { items: [question], silent: [], more: 0 });
    const { page } = await open('/inbox');
    await page.getByLabel('Answer in your words').waitFor();
    await slowDown(page);
    const before = server().actions.length;
    for (let turn = 0; turn < TIMES; turn++) {
      await shownForKeys(page);
      await page.keyboard.type('2 seats, 1 window');
      await page.keyboard.press('Enter');
    }
    expect(sentSince(before)).toEqual([]);
    await shownForKeys(page);
    await page.keyboard.press('2');
    await page.getByText('Answer Aisle?').waitFor();
    await shownForKeys(page);
    await page.keyboard.press('Enter');
    await expect.poll(() => sentSince(before)).toMatchObject([{ value: 'Aisle' }]);
    server().answer('/inbox', null);
  });

  it.each(['s', 'l', 'c', 'f', '?'])(
    'stays in the dialog that `%s` opens, also while its part still loads',
    async (key) => {
      const { page } = await open(CLERK);
      await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
      await page.route(/\/assets\/(fork-dialog|key-list)/, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await route.continue();
      });
      await slowDown(page);
      await shownForKeys(page);
      const before = server().actions.length;
      await page.keyboard.type(`${key}pcslpfata`);
      await page.getByRole('dialog').waitFor();
      expect(await page.getByRole('dialog').count()).toBe(1);
      expect(sentSince(before)).toEqual([]);
    },
  );

  it('does not pause the run when it goes on after a dialog has closed', async () => {
    const { page } = await open(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await slowDown(page);
    const before = server().actions.length;
    for (let turn = 0; turn < TIMES; turn++) {
      await shownForKeys(page);
      await page.keyboard.type('shello');
      // Who types at once does not wait until the page has taken the key before.
      await Promise.all([page.keyboard.press('Escape'), page.keyboard.type('plc')]);
      expect(await page.getByRole('dialog').count()).toBe(0);
    }
    expect(sentSince(before)).toEqual([]);
  });
});
