/** A scene with more tabs than a browser allows connections. */
import { expect, it } from 'vitest';
import { pageOf, type SceneStage } from './scene-stage.ts';

const TABS = 8;

/** Adds the scene. */
export function tabScenes(stage: () => SceneStage): void {
  it('shows the same news in eight tabs, of which four stream and the others ask', async () => {
    const { start, open, urlOf } = stage();
    const run = await start('patient', 'Wait in eight tabs.');
    const { page, context, check } = await open(pageOf(run));
    const others = await Promise.all(
      Array.from({ length: TABS - 1 }, async () => {
        const other = await context.newPage();
        await other.goto(urlOf(pageOf(run)));
        return other;
      }),
    );
    const tabs = [page, ...others];
    await Promise.all(tabs.map((tab) => tab.getByText('nap').first().waitFor()));
    const streaming = (): Promise<number> =>
      page.evaluate(async () => {
        const { locks } = Reflect.get(globalThis, 'navigator') as {
          readonly locks: { query(): Promise<{ readonly held: readonly unknown[] }> };
        };
        return (await locks.query()).held.length;
      });
    await expect.poll(streaming).toBe(4);
    await run.send('plan Z', { kind: 'interrupt' });
    await Promise.all(tabs.map((tab) => tab.locator('.run-head').getByText('success').waitFor()));
    await others[0]?.close();
    await check();
  });
}
