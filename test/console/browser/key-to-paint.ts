/** How long a page takes from a key in the filter to the row that it finds. */
import type { Page } from 'playwright-core';

/** Types `text` into the filter of the runs; milliseconds until a row with `found` is painted. */
export async function keyToPaint(page: Page, text: string, found: string): Promise<number> {
  // The project of the tests has no types of the DOM, so the function is a text.
  return page.evaluate<number>(`new Promise((resolve) => {
    const field = document.querySelector('.filters input');
    const body = document.querySelector('section[aria-label=Runs]');
    const startedAt = performance.now();
    const isThere = () => {
      const links = [...body.querySelectorAll('tbody a')];
      return links.length > 0 && links.every((link) => link.textContent.includes(${JSON.stringify(found)}));
    };
    const seen = new MutationObserver(() => {
      if (!isThere()) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
    });
    seen.observe(body, { childList: true, subtree: true, characterData: true });
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
  })`);
}
