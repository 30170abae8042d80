/** Colours of the style sheet for a canvas, which knows no custom properties. */

/** The colour of the token `name`, such as `span-model`, as `element` shows it. */
export function colourOf(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}
