/** News that come while a list is loaded are shown after it, whatever the answer says. */
import { describe, expect, it } from 'vitest';
import { lateNews } from '../../../src/console/web/base/late-news.ts';
import type { LiveFrame } from '../../../src/console/live-frames.ts';
import { gate } from '../../support/runs.ts';

function treeOf(...ids: readonly string[]): LiveFrame {
  return { kind: 'tree', run: 'top', runs: ids.map((id) => ({ id })) } as unknown as LiveFrame;
}

/** A list that shows the newest of what was loaded and what was told. */
function shownList() {
  let shown: readonly string[] = [];
  const news = lateNews((frames) => {
    for (const frame of frames) if (frame.kind === 'tree') shown = frame.runs.map(({ id }) => id);
  });
  return { news, shown: () => shown, show: (ids: readonly string[]) => void (shown = ids) };
}

describe('news of a list', () => {
  it('are not lost to an answer that is older', async () => {
    const { news, shown, show } = shownList();
    const answered = gate();
    const loaded = news.during(async () => {
      await answered.opened;
      show(['top']);
    });
    news.take([treeOf('top', 'leaf')]);
    expect(shown()).toEqual(['top', 'leaf']);
    answered.open();
    await loaded;

    expect(shown()).toEqual(['top', 'leaf']);
  });

  it('are taken once when nothing is loaded, and by each of two loads', async () => {
    const { news, shown, show } = shownList();
    news.take([treeOf('old')]);
    await news.during(async () => show(['new']));
    expect(shown()).toEqual(['new']);

    const [first, second] = [gate(), gate()];
    const loads = [first, second].map((answered) =>
      news.during(async () => {
        await answered.opened;
        show(['older']);
      }),
    );
    news.take([treeOf('newest')]);
    for (const answered of [second, first]) {
      answered.open();
      await Promise.race(loads);
    }
    await Promise.all(loads);
    expect(shown()).toEqual(['newest']);
  });

  it('are taken also when the load fails', async () => {
    const { news, shown, show } = shownList();
    const failed = news.during(async () => {
      news.take([treeOf('told')]);
      show(['half']);
      throw new Error('away');
    });

    await expect(failed).rejects.toThrow('away');
    expect(shown()).toEqual(['told']);
  });
});
