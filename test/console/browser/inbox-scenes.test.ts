/** Scenes of the inbox with fixed answers: what is shown of a call, how it is edited, who is next. */
import { describe, expect, it } from 'vitest';
import type { InboxAnswer, InboxRow } from '../../../src/console/api.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { answerOf } from '../web/fixture-answers.ts';
import { AGENTS } from '../web/fixture-system.ts';
import { fixturePages } from './fixture-pages.ts';
import { shownForKeys } from './opened-page.ts';

const { open, server } = fixturePages();

/** The first item of the fixtures, with other arguments. */
function approvalOf(args: JsonObject): InboxRow {
  const answer = answerOf('/inbox', new URLSearchParams(), server().runs) as InboxAnswer;
  const [row] = answer.items;
  if (row?.item.kind !== 'approval') throw new Error('Expected an approval.');
  return { ...row, item: { ...row.item, args } };
}

/** What was decided since `count` actions had come. */
const decisionsAfter = (count: number): readonly unknown[] =>
  server()
    .actions.slice(count)
    .map(({ body }) => body['decision']);

describe('the inbox', () => {
  it('approves one item for a key that is held down, after it has asked once more', async () => {
    const before = server().actions.length;
    const { page, check } = await open('/inbox');
    await page.getByText('"A-1001"', { exact: true }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('a');
    await page.getByText(/^Approve refund\? What it does is done once/).waitFor();
    await check();
    await shownForKeys(page);
    expect(decisionsAfter(before)).toEqual([]);
    await page.keyboard.down('Enter');
    await page.getByText('"A-1003"', { exact: true }).waitFor();
    for (let count = 0; count < 5; count++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    // Moving may go on for as long as a key is held.
    await page.keyboard.down('j');
    await page.getByText('"A-1004"', { exact: true }).waitFor();
    expect(decisionsAfter(before)).toEqual([{ approve: true }]);
  });

  it('shows what a call may do, and edits its arguments by their schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        speed: { type: 'string', enum: ['slow', 'fast'] },
        copies: { type: 'integer' },
        note: { type: 'string' },
      },
    };
    const agents = AGENTS.map((agent) => ({
      ...agent,
      tools: agent.tools.map((tool) => ({ ...tool, schema })),
    }));
    server().answer('/agents', { agents });
    const row = approvalOf({ text: 'Dear Ada,\n\nbye', speed: 'slow', ['__proto__']: 1 });
    server().answer('/inbox', { items: [row], silent: [], more: 0 });
    const before = server().actions.length;
    const { page, check } = await open('/inbox');
    await page.getByText('effect once').waitFor();
    await shownForKeys(page);
    await page.keyboard.press('e');
    const text = page.getByLabel('text', { exact: true });
    expect(await text.inputValue()).toBe('Dear Ada,\n\nbye');
    await text.press('End');
    await text.press('Control+End');
    await text.pressSequentially('!');
    await page.getByLabel('speed').selectOption('fast');
    await page.getByLabel('copies').fill('2');
    await check();
    await page.getByRole('button', { name: 'Approve with changes' }).click();

    await expect.poll(() => decisionsAfter(before)).toHaveLength(1);
    const [decision] = decisionsAfter(before) as readonly { readonly args: JsonObject }[];
    expect(Object.entries(decision?.args ?? {})).toEqual([
      ['text', 'Dear Ada,\n\nbye!'],
      ['speed', 'fast'],
      ['__proto__', 1],
      ['copies', 2],
    ]);
    for (const path of ['/agents', '/inbox']) server().answer(path, null);
  });

  it('keeps an item whose answer waits for a worker, and says so; its end is no news then', async () => {
    const [row, next] = [approvalOf({ order: 'U-1' }), approvalOf({ order: 'U-2' })];
    const later = { ...next, item: { ...next.item, id: 'later' } };
    server().answer('/inbox', { items: [row, later], silent: [], more: 0 });
    server().accept('/decide', { item: row.item.id, unapplied: true });
    const { page, check } = await open('/inbox');
    await page.getByText('"U-1"', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/^Accepted, not yet applied: no worker answers/).waitFor();
    await check();
    expect(await page.getByRole('button', { name: 'Sent' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Deny' }).isDisabled()).toBe(true);
    server().push({ kind: 'settled', run: row.run, id: row.item.id });
    await page.getByText('"U-2"', { exact: true }).waitFor();
    expect(await page.getByText('That item was answered elsewhere.').count()).toBe(0);
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    server().accept('/decide', {});
    server().answer('/inbox', null);
  });

  it.each([
    {
      code: 'conflict' as const,
      status: 409,
      message: 'approval 1.2 is already decided',
      says: 'Somebody else was first, or its time was over: approval 1.2 is already decided.',
    },
    {
      code: 'item_unknown' as const,
      status: 404,
      message: 'nothing waits for a decision under the id `1.2`, got nothing to choose from',
      says: 'This waits no more: nothing waits for a decision under the id `1.2`, got nothing to choose from.',
    },
  ])('says on the card that it was too late: $code', async ({ says, status, ...error }) => {
    const row = approvalOf({ order: 'L-1' });
    server().answer('/inbox', { items: [row], silent: [], more: 0 });
    server().refuse(`/runs/${row.run}/decide`, error, status);
    const { page, check } = await open('/inbox', { mayFail: '/decide' });
    await page.getByText('"L-1"', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').getByText(says, { exact: true }).waitFor();
    await check();
    server().refuse(`/runs/${row.run}/decide`, null);
    server().answer('/inbox', null);
  });

  it('asks for each part that a tool wants in a field of its own', async () => {
    const form = {
      type: 'object',
      properties: {
        from: { type: 'string', enum: ['giro', 'savings'], description: 'Of the company.' },
        copies: { type: 'integer' },
        note: { type: 'string' },
      },
      required: ['from'],
    };
    const { run, agent, task, item } = approvalOf({});
    const base = { id: 'q7', since: item.since, agent: item.agent, path: item.path };
    const asked = { kind: 'question', question: 'From where?', free: false } as const;
    const question = { ...base, ...asked, details: { tool: 'send', form } };
    const row: InboxRow = { run, agent, task, item: question };
    server().answer('/inbox', { items: [row], silent: [], more: 0 });
    const before = server().actions.length;
    const { page, check } = await open('/inbox');
    const card = page.getByRole('article', { name: 'question q7' });
    await card.getByText('send asks').waitFor();
    await card.getByLabel('from').selectOption('savings');
    await card.getByLabel('copies').fill('two');
    await card.getByText('Expected a number in copies, got two.').waitFor();
    await card.getByLabel('copies').fill('2');
    await check();
    await card.getByRole('button', { name: 'Answer', exact: true }).click();

    await expect
      .poll(() =>
        server()
          .actions.slice(before)
          .map(({ body }) => body['value']),
      )
      .toEqual([{ from: 'savings', copies: 2 }]);
    server().answer('/inbox', null);
  });

  it('approves later calls of the run as well, once it has asked which', async () => {
    const row = approvalOf({ order: 'A-7' });
    server().answer('/inbox', { items: [row], silent: [], more: 0 });
    const before = server().actions.length;
    const { page, check } = await open('/inbox');
    await page.getByText('"A-7"', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Always' }).click();
    await page.getByText('In this run, also approve later calls').waitFor();
    await check();
    expect(decisionsAfter(before)).toEqual([]);
    await page.getByRole('button', { name: 'with these arguments' }).click();

    await expect
      .poll(() => decisionsAfter(before))
      .toEqual([{ approve: true, remember: 'arguments' }]);
    server().answer('/inbox', null);
  });

  it('says how many it leaves out', async () => {
    const items = [approvalOf({ order: 'A-1' })];
    server().answer('/inbox', { items, silent: [], more: 12 });
    const { page } = await open('/inbox');
    await page.getByText('1 waiting · 12 more left out').waitFor();
    server().answer('/inbox', null);
  });
});
