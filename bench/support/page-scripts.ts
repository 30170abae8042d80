/**
 * Scripts that run in a page before its own and note when something is painted. They are texts,
 * because benchmarks have no types of the DOM. A change counts as painted after the next frame, so a
 * time may be 16 ms too long, and never too short.
 */
import type { Page } from 'playwright-core';

/**
 * Has a page note, under `name`, how long after its navigation `selector` was painted; `without`: a
 * text that it must not have any more.
 */
export function paintScript(name: string, selector: string, without = ''): string {
  return `(() => {
    const seen = new MutationObserver(() => {
      const text = document.querySelector(${JSON.stringify(selector)})?.textContent;
      const without = ${JSON.stringify(without)};
      if (text === undefined || (without !== '' && text.includes(without))) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => { window[${JSON.stringify(name)}] = performance.now(); }));
    });
    seen.observe(document, { childList: true, characterData: true, subtree: true });
  })();`;
}

/** What {@link paintScript} noted under `name`, in ms; waits for it. */
export async function paintedMs(page: Page, name: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      const ms = window[${JSON.stringify(name)}];
      if (ms === undefined) setTimeout(look, 20);
      else resolve(ms);
    };
    look();
  })`);
}

/** Has a page note when each element that fits `selector` was painted first, by its id. */
export function arrivalsScript(selector: string): string {
  return `(() => {
    const arrivals = window.arrivals = {};
    new MutationObserver(() => {
      const fresh = [...document.querySelectorAll(${JSON.stringify(selector)})]
        .map(({ id }) => id).filter((id) => !(id in arrivals));
      if (fresh.length === 0) return;
      for (const id of fresh) arrivals[id] = 0;
      requestAnimationFrame(() => setTimeout(() => {
        for (const id of fresh) arrivals[id] = performance.timeOrigin + performance.now();
      }));
    }).observe(document, { childList: true, subtree: true, attributes: true });
  })();`;
}

/** What {@link arrivalsScript} noted: milliseconds since 1970, by id. */
export async function arrivalsOf(page: Page): Promise<Readonly<Record<string, number>>> {
  return page.evaluate<Record<string, number>>('window.arrivals');
}

/**
 * Has a page note how old each time was when it was painted that stands in a text as `t` and
 * milliseconds since 1970. Times before the first of them was painted are left out: these texts were
 * written while the page was loaded.
 */
export const AGES_SCRIPT = `(() => {
  const ages = window.ages = [];
  let last = 0;
  let firstPaintedAt = null;
  new MutationObserver(() => {
    const block = [...document.querySelectorAll('article.iteration')].at(-1);
    const found = block?.textContent.match(/t\\d{13}/g)?.map((text) => Number(text.slice(1)));
    const fresh = (found ?? []).filter((at) => at > last);
    if (fresh.length === 0) return;
    last = fresh.at(-1);
    requestAnimationFrame(() => setTimeout(() => {
      const now = performance.timeOrigin + performance.now();
      firstPaintedAt ??= now;
      for (const at of fresh) if (at >= firstPaintedAt) ages.push(now - at);
    }));
  }).observe(document, { childList: true, subtree: true, characterData: true });
})();`;

/** What {@link AGES_SCRIPT} noted, in ms. */
export async function agesOf(page: Page): Promise<readonly number[]> {
  return page.evaluate<number[]>('window.ages');
}

/** Has a page count its frames. */
export const FRAMES_SCRIPT = `(() => {
  window.frames_ = 0;
  const next = () => { window.frames_ += 1; requestAnimationFrame(next); };
  requestAnimationFrame(next);
})();`;

/** What {@link FRAMES_SCRIPT} counted. */
export async function framesOf(page: Page): Promise<number> {
  return page.evaluate<number>('window.frames_');
}

/** Megabytes of the page's heap after a collection. */
export async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}

/** Milliseconds of a fixed amount of work in a page: how fast the machine is just now. */
export async function calibrationMs(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const startedAt = performance.now();
    let sum = 0;
    for (let turn = 0; turn < 50_000_000; turn++) sum = (sum * 31 + turn) | 0;
    return performance.now() - startedAt + (sum === 1 ? 1 : 0);
  })()`);
}
