/** The address is the state: its path names page and run, its query tab, iteration, span, filter. */
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { BASE } from './api.ts';

/** The page that an address names. */
export type ConsolePage =
  | {
      readonly page:
        'runs' | 'inbox' | 'agents' | 'schedules' | 'tenants' | 'diff' | 'system' | 'unknown';
    }
  | { readonly page: 'run'; readonly id: string }
  | { readonly page: 'agent'; readonly name: string };

const address: Signal<string> = signal(location.pathname + location.search);

/** The page that is open. */
export const page: ReadonlySignal<ConsolePage> = computed(() => pageOf(pathOf(address.value)));

/** The query of the address. */
export const query: ReadonlySignal<URLSearchParams> = computed(
  () => new URLSearchParams(address.value.split('?')[1] ?? ''),
);

/** Follows the browser's own back and forward. */
export function followAddress(): void {
  addEventListener('popstate', () => {
    address.value = location.pathname + location.search;
  });
}

/** The address of a page; ids of runs contain slashes and travel as one segment. */
export function hrefOf(target: ConsolePage, search: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(search).toString();
  return `${BASE}${segmentOf(target)}${text === '' ? '' : `?${text}`}`;
}

/** Opens `href`. */
export function go(href: string): void {
  history.pushState(null, '', href);
  address.value = location.pathname + location.search;
  scrollTo(0, 0);
}

/** Sets parts of the query; null removes one. `push`: back leads to the state before. */
export function setQuery(changes: Readonly<Record<string, string | null>>, push = false): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  const href = `${location.pathname}${text === '' ? '' : `?${text}`}`;
  if (push) history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  address.value = location.pathname + location.search;
}

/** Opens links to pages of the console without loading the page anew. */
export function takeLinks(event: MouseEvent): void {
  const { metaKey, ctrlKey, shiftKey, altKey, button, target } = event;
  if (event.defaultPrevented || metaKey || ctrlKey || shiftKey || altKey || button !== 0) return;
  const link = target instanceof Element ? target.closest('a[href]') : null;
  const href = link?.getAttribute('href') ?? '';
  if (link === null || link.hasAttribute('target') || link.hasAttribute('download')) return;
  if (!href.startsWith('/')) return;
  event.preventDefault();
  go(href);
}

function pathOf(href: string): string {
  const path = href.split('?')[0] ?? '';
  return path.startsWith(BASE) ? path.slice(BASE.length) : path;
}

/** Pages without an id. */
const LISTS = ['inbox', 'agents', 'schedules', 'tenants', 'diff', 'system'] as const;

function pageOf(path: string): ConsolePage {
  const [first = '', second] = path.replace(/^\/+|\/+$/g, '').split('/');
  if (first === '') return { page: 'runs' };
  if (first === 'runs' && second === undefined) return { page: 'runs' };
  if (first === 'runs' && second !== undefined) return { page: 'run', id: decoded(second) };
  if (first === 'agents' && second !== undefined) return { page: 'agent', name: decoded(second) };
  return { page: LISTS.find((name) => name === first) ?? 'unknown' };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function segmentOf(target: ConsolePage): string {
  switch (target.page) {
    case 'run':
      return `/runs/${encodeURIComponent(target.id)}`;
    case 'agent':
      return `/agents/${encodeURIComponent(target.name)}`;
    case 'runs':
    case 'unknown':
      return '/';
    default:
      return `/${target.page}`;
  }
}
