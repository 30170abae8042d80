/** Reads what a query asks for: any client may send one, with any payload or none. */
import { defined } from '../base/defined.ts';
import { isPlainObject, type Json } from '../base/json.ts';
import type { PagePosition } from '../contract/page.ts';
import type { EventsRequest, TranscriptRequest } from '../contract/messages.ts';

/** A request that was read, or what is wrong with it. */
export type PageRequest<Request> =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'invalid'; readonly message: string };

/** Reads the request for a page of events; none means the beginning. */
export function readEventsRequest(payload: unknown): PageRequest<EventsRequest> {
  const fields = payload ?? {};
  if (!isPlainObject(fields)) return invalid(`an object such as ${EXAMPLE}`, payload);
  const { from = {}, maxBytes, limit } = fields;
  if (!isPlainObject(from)) return invalid(`\`from\` to be a position such as ${POSITION}`, from);
  const { index = 0, offset = 0 } = from;
  if (!isCount(index)) return invalid('`from.index` to be a whole number from 0 up', index);
  if (!isCount(offset)) return invalid('`from.offset` to be a whole number from 0 up', offset);
  if (maxBytes !== undefined && (!isCount(maxBytes) || maxBytes === 0)) {
    return invalid('`maxBytes` to be a whole number from 1 up', maxBytes);
  }
  if (limit !== undefined && (!isCount(limit) || limit === 0)) {
    return invalid('`limit` to be a whole number from 1 up', limit);
  }
  const request = defined({ from: { index, offset }, maxBytes, limit });
  return { kind: 'request', request };
}

/** Reads the request for a page of the transcript; none means the beginning of the history. */
export function readTranscriptRequest(payload: unknown): PageRequest<TranscriptRequest> {
  const read = readEventsRequest(payload);
  if (read.kind === 'invalid') return read;
  const { view = 'history', epoch } = isPlainObject(payload) ? payload : {};
  if (view !== 'history' && view !== 'scratchpad' && view !== 'state') {
    return invalid('`view` to be history, scratchpad or state', view);
  }
  if (epoch !== undefined && !isCount(epoch)) {
    return invalid('`epoch` to be a whole number from 0 up', epoch);
  }
  const request: TranscriptRequest = defined({ ...read.request, view, epoch });
  return { kind: 'request', request };
}

/**
 * Why no page of `items` can begin at `from`, whose index counts from `first` less; null when one
 * can. The end of the list is a position: later items will be there.
 */
export function positionProblem(
  items: readonly Json[],
  first: number,
  { index, offset }: PagePosition,
): string | null {
  const end = first + items.length;
  if (index > end) {
    return `Expected \`from.index\` from 0 to ${end}, the end so far, got ${index}. Begin at an earlier one.`;
  }
  if (offset === 0 || index < first) return null;
  const characters = index === end ? 0 : JSON.stringify(items[index - first]).length;
  return offset < characters
    ? null
    : `Expected \`from.offset\` to be inside item ${index}, which has ${characters} characters, got ${offset}. Begin at the \`next\` of a page.`;
}

const POSITION = '{ "index": 0 }';
const EXAMPLE = `{ "from": ${POSITION} }`;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function invalid(
  expected: string,
  got: unknown,
): { readonly kind: 'invalid'; readonly message: string } {
  const text = JSON.stringify(got) ?? 'none';
  const message = `Expected ${expected}, got ${text.slice(0, 80)}. Leave it out to begin at the start.`;
  return { kind: 'invalid', message };
}
