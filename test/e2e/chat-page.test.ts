/** A person at a page with the real hook of the AI SDK, in a real browser. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { createChatHandler } from '../../src/ui/chat-handler.ts';
import { reasonToSkip } from '../support/browser/find-browser.ts';
import { launchBrowser } from '../support/browser/launch-browser.ts';
import { openSite, type Site } from '../support/chat-page/site.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { gate, searchTool, type Gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

const skipped = reasonToSkip();
if (skipped !== null) console.warn(`SKIPPED test/e2e/chat-page.test.ts: ${skipped}`);

const SOON_MS = 60_000;

let stage: Stage;
let browser: Browser;
beforeAll(async () => {
  if (skipped !== null) return;
  stage = await openStage(inject('temporal'));
  browser = await launchBrowser();
});
afterAll(async () => {
  if (skipped !== null) return;
  await browser.close();
  await stage.close();
});

/** Searches, writes half of its answer, and goes on when it may. */
function guide(mayGoOn: Gate): AgentDefinition {
  return defineAgent({
    name: 'guide',
    tools: [searchTool()],
    model: {
      id: 'm',
      model: async ({ messages }, { onChunk }) => {
        if (messages.at(-1)?.role === 'user') {
          return { content: 'I look.', toolCalls: [{ name: 'search', args: { query: 'x' } }] };
        }
        onChunk({ kind: 'text', delta: 'Rome is ' });
        await mayGoOn.opened;
        onChunk({ kind: 'text', delta: 'the capital.' });
        return { content: 'Rome is the capital.', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    },
  });
}

const VERSIONS = [
  { version: 6, react: '@ai-sdk/react' },
  { version: 7, react: '@ai-sdk-7/react' },
].slice(0, RUNS_ALL ? 2 : 1);

describe.each(VERSIONS)('a page with useChat of the AI SDK $version', ({ react }) => {
  it('sends, shows the stream, and after a reload in mid-reply the whole reply', async ({
    skip,
  }) => {
    skip(skipped !== null, skipped ?? '');
    const mayGoOn = gate();
    const { everloop } = await stage.serve([guide(mayGoOn)]);
    const site: Site = await openSite(react, createChatHandler({ everloop, agent: 'guide' }));
    const page = await browser.newPage();
    page.setDefaultTimeout(SOON_MS);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const half = page.locator('.assistant p', { hasText: /^Rome is $/ });
    const ready = page.locator('[data-status=ready]');

    await page.goto(`${site.url}/?chat=page-${Date.now()}`);
    await page.fill('input', 'What is the capital?');
    await page.click('button');
    await half.waitFor();
    await page.reload();
    await half.waitFor();
    mayGoOn.open();
    await page.locator('.assistant p', { hasText: 'Rome is the capital.' }).waitFor();
    await ready.waitFor();

    expect(await page.locator('article').allInnerTexts()).toEqual([
      'What is the capital?',
      expect.stringMatching(/^I look\.\s+search output-available\s+Rome is the capital\.$/),
    ]);

    await page.fill('input', 'And now?');
    await page.click('button');
    await page.locator('article:nth-of-type(4)', { hasText: 'Rome is the capital.' }).waitFor();
    await ready.waitFor();
    expect(await page.locator('[role=alert]').count()).toBe(0);
    expect(errors).toEqual([]);

    await page.close();
    site.close();
  });
});
