import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { readChain, type ArchiveReader } from '../../src/client/reading/chain-reader.ts';
import type { LinkPage } from '../../src/core/contract/messages.ts';
import { pageOf, type PagePosition } from '../../src/core/contract/page.ts';

/** One execution of a chain: its items are the numbers from `first` on. */
interface Link {
  readonly first: number;
  readonly length: number;
}

const numbers = ({ first, length }: Link): readonly number[] =>
  Array.from({ length }, (_, index) => first + index);

/**
 * A client whose run is a chain of `links`, of which as many exist as `alive` says when it is asked;
 * a page has two items.
 */
function chainClient(links: readonly Link[], alive: (asked: number) => number): Client {
  let asked = 0;
  const handleOf = (executionId: string | undefined): unknown => ({
    query: ({ name }: { readonly name: string }, request?: { readonly from: PagePosition }) => {
      if (name === 'status') return Promise.resolve({ runId: 'chain' });
      asked += 1;
      const number = executionId === undefined ? alive(asked) - 1 : Number(executionId);
      return Promise.resolve(linkPage(links, number, request?.from ?? { index: 0, offset: 0 }));
    },
  });
  return {
    withDeadline: (_at: number, ask: () => unknown) => ask(),
    withAbortSignal: (_signal: AbortSignal, ask: () => unknown) => ask(),
    workflow: { getHandle: (_id: string, executionId?: string) => handleOf(executionId) },
  } as unknown as Client;
}

/** What the workflow's handler answers; see `linkPage` in `workflows/handlers.ts`. */
function linkPage(links: readonly Link[], number: number, from: PagePosition): LinkPage {
  const link = links[number];
  if (link === undefined) throw new Error(`Expected one of ${links.length} links, got ${number}.`);
  const index = Math.max(0, from.index - link.first);
  const page = pageOf(numbers(link).map(String), { index, offset: 0 }, 2 * '"00"'.length);
  const next = page.next === null ? null : { ...page.next, index: page.next.index + link.first };
  const previous = number === 0 ? null : String(number - 1);
  return { ...page, next, first: link.first, previous };
}

const LINKS: readonly Link[] = [
  { first: 10, length: 5 },
  { first: 15, length: 3 },
  { first: 18, length: 4 },
];
const from = (first: number): readonly string[] =>
  numbers({ first, length: 22 - first }).map(String);

function read(
  client: Client,
  options: { readonly from?: number; readonly archive?: ArchiveReader } = {},
): ReturnType<typeof readChain> {
  const { archive, from: first = 10 } = options;
  return readChain({ client, id: 'run', kind: 'events', from: first, archive });
}

describe('readChain', () => {
  it('puts the pages of all links in order', async () => {
    expect(await read(chainClient(LINKS, () => 3))).toEqual(from(10));
  });

  it('begins in the middle of a link', async () => {
    expect(
      await read(
        chainClient(LINKS, () => 3),
        { from: 16 },
      ),
    ).toEqual(from(16));
  });

  it('begins again when the run hands itself over between two pages', async () => {
    const client = chainClient(LINKS, (asked) => (asked <= 1 ? 2 : 3));

    expect(await read(client)).toEqual(from(10));
  });

  it('takes from the archive what it has, and asks for the rest', async () => {
    const asked: unknown[] = [];
    const archive: ArchiveReader = {
      read: (...request) => {
        asked.push(request);
        return Promise.resolve(numbers({ first: 10, length: 8 }).map(String));
      },
    };

    expect(
      await read(
        chainClient(LINKS, () => 3),
        { archive },
      ),
    ).toEqual(from(10));
    expect(asked).toEqual([['chain', 'events', 10, 18]]);
  });

  it('asks the earlier links when the archive has a part only', async () => {
    const archive: ArchiveReader = { read: () => Promise.resolve(['10']) };

    expect(
      await read(
        chainClient(LINKS, () => 3),
        { archive },
      ),
    ).toEqual(from(10));
  });
});
