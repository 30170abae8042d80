/** Where links of models may lead, and whether their words already say so. */

/** A link that may be followed. */
export interface LinkTarget {
  readonly href: string;
  /** The host that it really names; of `mailto`, the address. */
  readonly place: string;
}

/** The target of `href`; null: it must not be followed. */
export function linkTarget(href: string): LinkTarget | null {
  const url = URL.parse(href);
  if (url === null) return null;
  if (url.protocol === 'mailto:') return { href: url.href, place: url.pathname };
  return /^https?:$/.test(url.protocol) ? { href: url.href, place: url.host } : null;
}

/**
 * Whether `words` begin with the place of a link, as browsers write it, and nothing before or in it
 * looks like another: neither a name before an `@` nor letters of other scripts.
 */
export function namesPlace(words: string, { place }: LinkTarget): boolean {
  const said = words.replace(/^(https?:\/\/|mailto:)/i, '').toLowerCase();
  return said.startsWith(place) && /^([/?#]|$)/.test(said.slice(place.length));
}
