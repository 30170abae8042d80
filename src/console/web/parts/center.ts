/** Lines that are wider than a narrow screen. */

/** Scrolls the line that `strip` selects so that its `part` is in the middle. */
export function center(strip: string, part: string): void {
  const line = document.querySelector(strip);
  const { offsetLeft = 0, offsetWidth = 0 } = line?.querySelector<HTMLElement>(part) ?? {};
  line?.scrollTo({ left: offsetLeft + offsetWidth / 2 - line.clientWidth / 2 });
}
