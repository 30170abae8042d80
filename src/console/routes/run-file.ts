/**
 * A run as a file: JSON, written while it is read, so that its size does not matter.
 *
 * I1  At most {@link MAX_FILES} are written at once, because a link of a history can have 50 MB.
 * I2  A file ends its reading with its reader, and gives its place back.
 */
import { ConsoleRefusal } from '../refusal.ts';
import type { Entry } from '../../core/contract/entry.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { ItemRange } from '../run-reader.ts';
import type { RouteParts } from './route-parts.ts';

const PAGE_ITEMS = 256;

/** Files that are written at once. */
const MAX_FILES = 4;

/** Downloads of one console. */
export interface RunFiles {
  /** Run `id`: how it was started, its events, its transcript and its Step. */
  readonly run: (id: string) => Promise<Response>;
  /** The histories of run `id`, one for each link, which `everloop replay` reads. */
  readonly history: (id: string) => Promise<Response>;
}

/** Writes files of runs; more than {@link MAX_FILES} at once are refused with `busy`. */
export function createRunFiles({
  everloop,
  reader,
}: Pick<RouteParts, 'everloop' | 'reader'>): RunFiles {
  let places = MAX_FILES;
  const written = async (open: () => Promise<FileParts>): Promise<Response> => {
    if (places === 0) {
      throw new ConsoleRefusal(
        'busy',
        `Expected at most ${MAX_FILES} downloads at once. Try again when one has ended.`,
      );
    }
    places -= 1;
    let isOpen = true;
    const leave = (): void => {
      if (isOpen) places += 1;
      isOpen = false;
    };
    try {
      return download(await open(), leave);
    } catch (error) {
      leave();
      throw error;
    }
  };
  return {
    run: (id) => written(() => runFile({ everloop, reader }, id)),
    history: (id) => written(() => historyFile({ everloop }, id)),
  };
}

/** A file: its name, and its text in pieces. */
interface FileParts {
  readonly name: string;
  readonly pieces: AsyncGenerator<string, undefined>;
}

async function runFile(
  { everloop, reader }: Pick<RouteParts, 'everloop' | 'reader'>,
  id: string,
): Promise<FileParts> {
  const run = everloop.attach(id);
  // Errors come before the first byte, where they still can be an answer.
  const startedWith = await run.startedWith();
  const step = await reader.step(id);
  const lists = [
    ['events', (range: ItemRange) => reader.events(id, range)],
    ['entries', (range: ItemRange) => reader.entries(id, range)],
  ] as const;
  const pieces = async function* (): AsyncGenerator<string, undefined> {
    yield `{"v":1,"id":${JSON.stringify(id)},"startedWith":${JSON.stringify(startedWith)}`;
    for (const [name, read] of lists) {
      yield `,${JSON.stringify(name)}:[`;
      yield* itemTexts(read);
      yield ']';
    }
    yield `,"step":${JSON.stringify(step)}}\n`;
  };
  return { name: `${fileNameOf(id)}.json`, pieces: pieces() };
}

async function historyFile(
  { everloop }: Pick<RouteParts, 'everloop'>,
  id: string,
): Promise<FileParts> {
  const run = everloop.attach(id);
  // Errors come before the first byte, where they still can be an answer.
  await run.links();
  const pieces = async function* (): AsyncGenerator<string, undefined> {
    yield `{"v":1,"id":${JSON.stringify(id)},"links":[`;
    let comma = '';
    for await (const { history } of run.histories()) {
      yield `${comma}${JSON.stringify(history)}`;
      comma = ',';
    }
    yield ']}\n';
  };
  return { name: `${fileNameOf(id)}.history.json`, pieces: pieces() };
}

function fileNameOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 100);
}

function download({ name, pieces }: FileParts, onEnd: () => void): Response {
  const encoder = new TextEncoder();
  const bytes = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await pieces.next();
          if (done !== true) return controller.enqueue(encoder.encode(value));
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      cancel: async () => {
        onEnd();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(bytes, {
    headers: {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="${name}"`,
    },
  });
}

async function* itemTexts(
  read: (range: ItemRange) => Promise<readonly (AgentEvent | Entry)[]>,
): AsyncGenerator<string, undefined> {
  for (let from = 0; ;) {
    const items = await read({ from, limit: PAGE_ITEMS });
    if (items.length === 0) return;
    const texts = items.map((item) => JSON.stringify(item)).join(',');
    yield from === 0 ? texts : `,${texts}`;
    from += items.length;
    if (items.length < PAGE_ITEMS) return;
  }
}
