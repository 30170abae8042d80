/** Scenes in which something goes away: a worker, the console, the server. */
import { expect, it } from 'vitest';
import { pageOf, type SceneStage, type SceneWorker } from './scene-stage.ts';

/** How often the page was loaded; a scene in which nobody reloads keeps it. */
const LOADS = 'performance.getEntriesByType("navigation").length + performance.timeOrigin';

/** Adds the scenes of a console and a server that go away, and of a run that does. */
export function losingScenes(stage: () => SceneStage): void {
  it('says that the console is away, and catches up when it is back', async () => {
    const { start, open, stopConsole, startConsole } = stage();
    const run = await start('patient', 'Wait for me.');
    const { page, check } = await open(pageOf(run), { mayFail: '/api/' });
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await page.getByText('nap').first().waitFor();
    await stopConsole();
    await page.getByRole('alert').getByText('The console does not answer.').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await run.send('plan B', { kind: 'interrupt' });
    await startConsole();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('On to the other.').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
    await check();
    await run.cancel();
  });

  it('says that the Temporal server is away, keeps what it shows, and goes on', async () => {
    const { start, open, line } = stage();
    const run = await start('patient', 'Wait for the server.');
    const { page, check } = await open(pageOf(run), { mayFail: '/api/' });
    await page.getByText('Wait for the server.').first().waitFor();
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    line.cut();
    try {
      await page.getByRole('alert').getByText('The Temporal server does not answer.').waitFor();
      expect(await page.getByText('Wait for the server.').count()).toBeGreaterThan(0);
    } finally {
      line.mend();
    }
    await run.send('plan Z', { kind: 'interrupt' });
    await page.getByText('Enough waited.').first().waitFor();
    await page.locator('.run-head').getByText('success').waitFor();
    await check();
  });

  it('says of a run that the service has forgotten what it is, while it is open and later', async () => {
    const { start, open, forget } = stage();
    const run = await start('patient', 'Be forgotten.');
    const { page, check } = await open(pageOf(run), { mayFail: '/api/' });
    await page.getByRole('article', { name: 'Iteration 1', exact: true }).waitFor();
    await forget(run);
    await page.getByText('The service does not know this run.').waitFor();
    await page.reload();
    await page.getByText('The service does not know this run.').waitFor();
    await check();
  });
}

/** Adds the scene in which `first` is killed; another worker serves from then on. */
export function killScene(stage: () => SceneStage, first: () => SceneWorker): void {
  it('shows a worker that dies in mid-reply: silent, the lost attempt, and how it goes on', async () => {
    const { start, open, serve, openGate } = stage();
    const run = await start('writer', 'Say what became of the refund.');
    // Without a worker, what the page has not read yet cannot be read.
    const { page, check } = await open(pageOf(run), { mayFail: '/iterations' });
    const head = page.locator('.run-head');
    await page.getByText('The refund of May is').waitFor();
    await page.locator('.caret').waitFor();
    const loads = await page.evaluate<number>(LOADS);

    await first().kill();
    await head.getByText('silent', { exact: true }).waitFor();
    await page
      .getByRole('alert')
      .getByText(/No worker answers .* everloop worker/)
      .waitFor();
    await page.locator('.caret').waitFor({ state: 'detached' });
    await head.getByText('waits for a worker').waitFor();
    await page.getByText(/No worker has answered since|The call waits for another/).waitFor();
    expect(await page.getByText('The refund of May is').count()).toBe(1);
    // A page that is opened now shows what the service knows.
    const late = await open(pageOf(run), { mayFail: '/api/' });
    await late.page.getByText('Say what became of the refund.').waitFor();
    await late.page.locator('.run-head').getByText('silent', { exact: true }).waitFor();
    await late.check();

    const second = await serve();
    await head.getByText('silent', { exact: true }).waitFor({ state: 'detached' });
    // A machine that is busy can lose another one.
    const lost = page.getByRole('button', { name: /worker \d+ lost: heartbeat timeout/ });
    await lost.first().waitFor();
    await page.getByText(`Worker ${second.name} went on at`).waitFor();
    await head.getByRole('button', { name: /^\d+ attempts? lost$/ }).waitFor();
    await page.locator('.caret').waitFor();
    await openGate('writer');
    await page.getByText('The refund of May is paid.').first().waitFor();
    await head.getByText('success').waitFor();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    expect(await page.evaluate<number>(LOADS)).toBe(loads);
    await check();
  }, 120_000);
}
