/** Scenes with hostile words, with a run that cannot be read, and in browsers that lack something. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { connect } from '../../../../src/client/connect.ts';
import { keyRing } from '../../../../src/protection/key-ring.ts';
import { withHiddenValue } from '../../../support/hidden-values.ts';
import { pageOf, type SceneStage } from './scene-stage.ts';

/** Adds the scenes. */
export function hostileScenes(stage: () => SceneStage): void {
  it('says that a key was refused, and takes the right one', async () => {
    const { open, urlOf } = stage();
    const { page } = await open('/');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.evaluate("localStorage.setItem('everloop.key', 'a-key-of-somebody-else')");
    await page.reload();
    const key = page.getByLabel('Key', { exact: true });
    await page.getByText('The console refused this key.').waitFor();
    await key.fill('another-wrong-key');
    await page.keyboard.press('Enter');
    await page.getByText('The console refused this key.').waitFor();

    await key.fill(new URL(urlOf('/')).hash.replace('#key=', ''));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  it('shows hostile words of models and tools as text alone, wide and narrow', async () => {
    const { start, open } = stage();
    const run = await start('hostile', '<script>document.title=3</script> \u202Eevil');
    await run.resultOrPending();
    const { page, check } = await open(pageOf(run));
    await page.getByRole('article', { name: 'approval 2.1' }).waitFor();
    await page.locator('details', { hasText: 'fetch' }).locator('summary').click();
    await page.getByText('U+202E').first().waitFor();
    await page.getByText('(evil.example)').first().waitFor();
    await page.getByText('[image:').first().waitFor();
    await page.getByText('__proto__').first().waitFor();
    for (const width of [1_360, 390]) {
      await page.setViewportSize({ width, height: 844 });
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(wide, `at ${width}`).toBeLessThanOrEqual(0);
    }
    await page.getByRole('button', { name: 'Show all' }).first().click();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.title()).toContain(run.id.slice(1));
    await check();
    await page.goto(stage().urlOf('/inbox'));
    await page.getByRole('article', { name: 'approval 2.1' }).waitFor();
    await check();
    await run.cancel();
  });

  it('shows of an encrypted run, without its key, that it is one', async () => {
    const { everloop, open, serve } = stage();
    const key = randomBytes(32);
    const taskQueue = 'scenes-encrypted';
    const { address, namespace } = everloop;
    const worker = await serve({
      taskQueue,
      env: { EVERLOOP_KEYS: `k1=${key.toString('base64')}` },
    });
    const keyed = await connect({
      address,
      namespace,
      taskQueue,
      env: {},
      protection: { keys: keyRing({ current: 'k1', keys: { k1: key } }) },
    });
    try {
      const run = await keyed.start('patient', {
        task: 'A secret task.',
        context: withHiddenValue(),
      });
      const { page, check } = await open('/', { mayFail: '/api/' });
      await page.getByRole('link', { name: run.id }).click();
      await page
        .getByText(/key `k1`/)
        .first()
        .waitFor();
      expect(await page.getByText('A secret task.').count()).toBe(0);
      await check();
      await run.cancel(undefined, { force: true });
    } finally {
      await keyed.close();
      await worker.kill();
    }
  });

  it('works in a browser without storage, Web Locks and WebSockets', async () => {
    const { start, open } = stage();
    const run = await start('patient', 'Wait in an old browser.');
    const { page, check } = await open(pageOf(run), {
      mayFail: '/api/',
      without: ['localStorage', 'locks', 'WebSocket'],
    });
    await page.getByText('nap').first().waitFor();
    await run.send('plan Z', { kind: 'interrupt' });
    await page.locator('.run-head').getByText('success').waitFor();
    await page.reload();
    // The key was kept in the page alone; the address no longer has it.
    await page.getByRole('heading', { name: 'This console needs its key' }).waitFor();
    await check();
  });
}
