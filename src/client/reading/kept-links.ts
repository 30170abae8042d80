/**
 * What a client has read of links that are closed. They never change, and a worker would replay a
 * link for each page that it is asked for again.
 */
import { LRUCache } from 'lru-cache';
import type { Json } from '../../core/base/json.ts';
import type { LinkPage } from '../../core/contract/messages.ts';

/** Items of one link that follow each other. */
export interface Segment {
  /** Index in the chain of the first item that the link can show. */
  readonly first: number;
  /** Run id of the link before; null for the first link. */
  readonly previous: string | null;
  /** See `LinkPage`. */
  readonly forkedFrom?: LinkPage['forkedFrom'];
  /** Index in the chain of the first of `items`. */
  readonly start: number;
  readonly items: readonly Json[];
  /** The list of the link ends with them. */
  readonly isLast: boolean;
}

/** Memory for all links of a client, by the length of their JSON. */
const MAX_CHARACTERS = 67_108_864;

/** What is counted for a segment beside its items. */
const SEGMENT_CHARACTERS = 200;

/** The segments of closed links, each under a key of its link and list. */
export interface KeptLinks {
  /** A segment with item `index`, or with the first item of the link if that comes later. */
  readonly find: (key: string, index: number) => Segment | undefined;
  readonly add: (key: string, segment: Segment) => void;
}

/** Keeps the links that were read last. */
export function createKeptLinks(): KeptLinks {
  const links = new LRUCache<
    string,
    { readonly segments: readonly Segment[]; readonly size: number }
  >({ maxSize: MAX_CHARACTERS, sizeCalculation: ({ size }) => size });
  return {
    find: (key, index) => links.get(key)?.segments.find((segment) => has(segment, index)),
    add: (key, segment) => {
      const { segments = [], size = 0 } = links.get(key) ?? {};
      const more = SEGMENT_CHARACTERS + JSON.stringify(segment.items).length;
      links.set(key, { segments: [...segments, segment], size: size + more });
    },
  };
}

function has({ first, start, items, isLast }: Segment, index: number): boolean {
  if (index < start) return start === first;
  return isLast || index < start + items.length;
}
