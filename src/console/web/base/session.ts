/**
 * What this browser keeps: the token and settings. The token comes in the fragment of the address,
 * which reaches no log, and is removed from it at once. Without storage it lives as long as the page.
 */
import { signal, type Signal } from '@preact/signals';

const kept = new Map<string, string>();

/** The value under `name`; null: there is none. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`everloop.${name}`) ?? kept.get(name) ?? null;
  } catch {
    return kept.get(name) ?? null;
  }
}

/** Keeps `value` under `name`. */
export function keep(name: string, value: string): void {
  kept.set(name, value);
  try {
    localStorage.setItem(`everloop.${name}`, value);
  } catch {
    // A browser without storage forgets it with the page.
  }
}

/** The token of this browser; null: it has none, or one that no header can carry. */
export function token(): string | null {
  const key = recall('key');
  return key !== null && /^[\x20-\x7e]+$/.test(key) ? key : null;
}

/** Takes the token out of the address. */
export function adoptToken(): void {
  const match = /^#key=([^\s&]{8,600})$/.exec(location.hash);
  if (match?.[1] === undefined) return;
  keep('key', wholeText(match[1]));
  history.replaceState(null, '', location.pathname + location.search);
}

/** The fragment of an address keeps characters that are no letters as their numbers. */
function wholeText(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

/** The theme of the pages. */
export const theme: Signal<Theme> = signal(themeOf(recall('theme')));

/** Whether single keys act; they can be switched off. */
export const hasSingleKeys: Signal<boolean> = signal(recall('keys') !== 'off');

/** Sets and keeps the theme. */
export function setTheme(next: Theme): void {
  theme.value = next;
  keep('theme', next);
  applyTheme();
}

/** Shows the theme, and hints of keys only where they act. */
export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value === 'auto') delete root.dataset['theme'];
  else root.dataset['theme'] = theme.value;
  root.toggleAttribute('data-no-keys', !hasSingleKeys.value);
}

/** Switches single keys on or off. */
export function setSingleKeys(on: boolean): void {
  hasSingleKeys.value = on;
  keep('keys', on ? 'on' : 'off');
  applyTheme();
}

function themeOf(value: string | null): Theme {
  return value === 'light' || value === 'dark' ? value : 'auto';
}
