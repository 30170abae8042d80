/** A scene in which a person talks with an agent: from its page, then from that of the conversation. */
import { expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { SceneStage } from './scene-stage.ts';

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByLabel('Message').press('Enter');
}

/** Adds the scene. */
export function conversationScenes(stage: () => SceneStage): void {
  it('talks turn by turn, steers a turn, and goes on from the page of the conversation', async () => {
    const { everloop, open, openGate } = stage();
    const { page, check } = await open('/agents/talker');
    const log = page.getByRole('log', { name: 'Conversation' });
    await say(page, 'Hello there');
    await log.getByText('You said: Hello there').waitFor();
    await log.getByText('turn 1').waitFor();
    await check();

    await say(page, 'hold');
    await log.getByText('turn 2').waitFor();
    await say(page, 'hurry');
    await log.getByText('hurry').waitFor();
    await openGate('talker');
    await log.getByText('You said: hurry').waitFor();
    expect(await log.locator('.turn').count()).toBe(2);

    await page.getByRole('link', { name: 'Open the conversation' }).click();
    const head = page.locator('.run-head');
    await head.getByText('open', { exact: true }).waitFor();
    await head.getByText('waits for a message').waitFor();
    const id = decodeURIComponent(page.url().split('/').at(-1) ?? '');
    expect(id).toMatch(/^~conversation:talker-/);
    await say(page, 'From its page');
    await log.getByText('You said: From its page').waitFor();
    await log.getByText('turn 3').waitFor();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('From its page', { exact: true }).waitFor();
    await check();
    expect(await everloop.attach(id).status()).toMatchObject({
      state: 'waiting',
      conversation: { count: 3, isOpen: false },
    });

    const list = await open('/');
    const row = list.page.getByRole('row').filter({ hasText: 'talker' });
    await row.getByText('open', { exact: true }).waitFor();
    expect(await row.count()).toBe(1);
    await list.check();
  });
}
