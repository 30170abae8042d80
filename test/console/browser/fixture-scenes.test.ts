/** Scenes of the pages with fixed answers: what they show, how they are used, what they refuse. */
import { describe, expect, it } from 'vitest';
import { FIXTURE_NOW } from '../web/fixture-data.ts';
import { AIRLINE, CLERK, expectFits, fixturePages } from './fixture-pages.ts';
import { goToInbox, shownForKeys } from './opened-page.ts';

const { open, server } = fixturePages();

describe('the pages of the console', () => {
  it('say of a run which attempt was lost, when and why, and what it cost', async () => {
    const { page, check } = await open(AIRLINE);
    const lost = page.getByRole('button', { name: /worker 15401 lost: heartbeat timeout/ });

    await lost.waitFor();
    await page
      .getByText(
        'Attempt 1 was lost: worker 15401 stopped answering (heartbeat timeout), which the service noticed at 09:08:07. ' +
          'Worker 15466 went on at 09:08:10, 6.4 s after the call began. Only this call was repeated.',
      )
      .waitFor();
    await page.getByRole('button', { name: '1 attempt lost' }).waitFor();
    await page.getByRole('button', { name: /^Cost/ }).waitFor();
    await lost.click();
    await expect.poll(() => page.url()).toContain('iteration=3');
    await check();
  });

  it('show every part of a run, each with the keys 1 to 8', async () => {
    const { page, check } = await open(AIRLINE);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    const parts = [
      'Transcript',
      'Timeline',
      'Program',
      'Tree',
      'Events',
      'Prompt',
      'Health',
      'Raw',
    ];
    for (const [index, name] of parts.entries()) {
      await page.keyboard.press(String(index + 1));
      const tab = page.getByRole('tab', { name, selected: true });
      await tab.waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    }
    await check();
  });

  it('open a call to its arguments and its result', async () => {
    const { page, check } = await open(AIRLINE);
    await page.getByText('get_flight_info').last().click();

    await page.getByText('"Boeing 777"').waitFor();
    await check();
  });

  it('approve from the inbox with keys alone, and go on to the next item', async () => {
    const { page, check } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    await goToInbox(page);
    await page.getByText('"A-1001"', { exact: true }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('a');
    await shownForKeys(page);
    await page.keyboard.press('Enter');
    await page.getByText('"A-1003"', { exact: true }).waitFor();
    await shownForKeys(page);
    await page.keyboard.press('d');
    await page.keyboard.type('too late');
    await page.keyboard.press('Enter');
    await page.getByText('"A-1004"', { exact: true }).waitFor();

    const sent = server().actions.map(({ path, body }) => [
      path.split('/').at(-1),
      body['decision'],
    ]);
    expect(sent).toEqual([
      ['decide', { approve: true }],
      ['decide', { deny: 'too late' }],
    ]);
    expect(new Set(server().actions.map(({ body }) => body['requestId'])).size).toBe(2);
    await check();
  });

  it('show a program form by form, and what waits beside it', async () => {
    const { page, check } = await open(`${CLERK}?tab=program`, { scheme: 'dark' });

    await page.locator('.form.waiting').getByText('tool/refund').waitFor();
    expect(await page.locator('.form.done').count()).toBe(4);
    await page.getByRole('region', { name: 'Waits for you' }).waitFor();
    await check();
  });

  it('find runs with the filter, by chips and by the palette', async () => {
    const { page, check } = await open('/');
    await page.getByText('Refund the late orders of May.').waitFor();
    expect(await page.locator('.runs tbody tr').count()).toBeLessThan(120);
    await page.keyboard.press('/');
    await page.keyboard.type('agent:clerk state:failed');
    await page.keyboard.press('Enter');
    await page.getByText('No run fits this filter.').waitFor();
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await page.getByRole('button', { name: /^Waits for people/ }).click();
    await expect.poll(() => page.locator('.runs .pill').allTextContents()).toEqual(['waiting']);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('system');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await page.getByText('Lists lack EverloopState. Run everloop setup.').waitFor();
    await page.getByText('k2, k1').waitFor();
    await check();
  });

  it.each(['/', AIRLINE, `${CLERK}?tab=program`, '/inbox', '/agents/clerk', '/system'])(
    'fit a phone: %s',
    async (path) => {
      const { page, check } = await open(path, { width: 390, height: 844 });
      await page.locator('h1').first().waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });

      await expectFits(page);
      await check();
    },
  );

  it('show on a phone which page is open, and no gap below the head of a call', async () => {
    const { page } = await open('/system', { width: 390, height: 844 });
    const rail = page.getByRole('navigation', { name: 'Main' });
    const right = async (): Promise<number> => {
      const link = await rail.getByRole('link', { name: 'System' }).boundingBox();
      return (link?.x ?? 0) + (link?.width ?? 400);
    };
    await expect.poll(right).toBeLessThanOrEqual(390);
    await page.goto(server().url + AIRLINE);
    const head = page.getByRole('article', { name: 'Iteration 1', exact: true }).locator('header');
    await expect.poll(() => head.boundingBox().then((box) => box?.height)).toBeLessThan(30);
  });

  it('show words of models and tools as text alone', async () => {
    const words = [
      '<img src=x onerror="document.title=1"><script>document.title=2</script>',
      '[click](javascript:alert(1)) ![a](http://elsewhere.invalid/a.png)',
      '[bank](https://evil.example/login)',
    ].join('\n\n');
    // Longer than what is read as Markdown.
    const hostile = `${words}\n\nsafe\u202Etxt.exe ${'x'.repeat(1_000_000)}`;
    const run = server().runs[1];
    const path = `/runs/${run?.id ?? ''}/iterations`;
    const entry = { name: '', kind: 'text', text: hostile.slice(0, 20_000), isOpen: false };
    const view = {
      number: 1,
      firstSeq: 1,
      lastSeq: 2,
      from: FIXTURE_NOW,
      to: FIXTURE_NOW,
      models: [],
      waits: [],
      programs: [],
      marks: [],
      sections: [],
      calls: [
        {
          callId: '1.1',
          tool: '__proto__',
          args: { constructor: hostile },
          from: FIXTURE_NOW,
          to: FIXTURE_NOW,
          outcome: 'ok',
          output: hostile,
          attempts: 1,
          losses: 0,
        },
      ],
      reply: { reasoning: words, source: hostile, parts: [entry] },
    };
    server().answer(path, { iterations: [view], lastSeq: 2 });
    const { page, check } = await open(AIRLINE);
    await page.getByText('__proto__').first().click();
    await page.getByText('U+202E').first().waitFor();
    server().answer(path, null);

    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    await page.getByText('(evil.example)').first().waitFor();
    await check();
  });

  it('follow live events, fill a gap, and show the reply as it is written', async () => {
    const run = server().runs[0];
    const { page, check } = await open(CLERK);
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    const last = run?.events.at(-1);
    if (run === undefined || last === undefined) throw new Error('Expected a run.');
    const event = (seq: number, body: object): never =>
      ({ ...last, seq: last.seq + seq, at: FIXTURE_NOW, iteration: 2, ...body }) as never;
    const text = (delta: string): never =>
      ({ kind: 'text', run: run.id, iteration: 2, attempt: 1, change: 'text', delta }) as never;
    server().push({
      kind: 'event',
      run: run.id,
      event: event(1, { type: 'agent:iteration:before' }),
    });
    const asked = { type: 'agent:model_call:before', model: 'm', purpose: 'reply', messages: 3 };
    server().push({ kind: 'event', run: run.id, event: event(2, asked) });
    server().push({ ...(text('') as object), change: 'not_streamed' } as never);
    await page.getByText('its reply comes as a whole').waitFor();
    server().push(text('<thinking>I lo'));
    server().push(text('ok again.</think'));

    await page.getByText('I look again.').waitFor();
    expect(await page.getByText('<think').count()).toBe(0);
    expect(await page.getByText('comes as a whole').count()).toBe(0);
    const silence = { since: FIXTURE_NOW - 30_000, message: 'No worker answers for this run.' };
    server().push({ kind: 'silent', run: run.id, ...silence });
    await page.getByRole('alert').getByText('No worker answers for this run.').waitFor();
    await check();
  });

  it('say that the server is away, keep what they show, and go on', async () => {
    const { page } = await open('/', { mayFail: '/api/' });
    await page.getByText('Refund the late orders of May.').waitFor();
    await page.context().setOffline(true);
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    await page.getByText('The console does not answer.').first().waitFor();
    expect(await page.getByRole('button', { name: /Start a run/ }).isDisabled()).toBe(true);
    await page.context().setOffline(false);
    await page.getByText('The console does not answer.').first().waitFor({ state: 'detached' });
  });

  it('take the key out of the address, and ask for it without one', async () => {
    const { page, check } = await open('/#key=0123456789abcdef');
    await page.getByText('Refund the late orders of May.').waitFor();

    expect(page.url()).not.toContain('key');
    expect(await page.evaluate<string>("localStorage.getItem('everloop.key')")).toBe(
      '0123456789abcdef',
    );
    await check();
  });
});
