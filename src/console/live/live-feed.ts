/**
 * The live feed: one connection for each tab, which says what it wants to hear of.
 *
 * I1  At most {@link MAX_TABS} tabs are connected, fewer of those that only look, and each has a
 *     bounded queue.
 * I2  A connection shows that it is alive every {@link PING_MS}. A tab that does not read it gives up
 *     its place after a minute.
 * I3  What no tab wants is neither followed nor read.
 */
import { randomUUID } from 'node:crypto';
import type { RunHandle } from '../../client/run-handle.ts';
import type { ConsoleRole } from '../api.ts';
import type { LiveFrame, LiveWants } from '../live-frames.ts';
import { ConsoleRefusal } from '../refusal.ts';
import type { ConsoleClient } from '../console-client.ts';
import type { RunReader } from '../run-reader.ts';
import { createListNews, type ListNews } from './list-news.ts';
import { createFollowedRuns, type FollowedRuns, type Looker } from './followed-runs.ts';
import { Tab } from './tab.ts';
import { watchInbox, watchRuns, watchTree, type Watch } from './watches.ts';

const MAX_TABS = 200;

/** Of them with a token that only looks: the others are kept for those who act. */
const MAX_READING_TABS = 100;
const PING_MS = 5_000;

/** What a {@link LiveFeed} takes; the times have defaults. */
export interface LiveFeedParts {
  readonly everloop: ConsoleClient;
  readonly reader: RunReader;
  readonly times?:
    | {
        readonly pingMs?: number;
        readonly everyMs?: number;
        readonly keptMs?: number;
        readonly silentMs?: number;
      }
    | undefined;
}

type WatchedName = 'list' | 'inbox' | 'tree' | 'news';

interface Connected {
  readonly role: ConsoleRole;
  readonly tab: Tab;
  readonly timer: NodeJS.Timeout;
  wants: LiveWants;
  looker: Looker | null;
  /** How to leave what it watches, by name. */
  readonly leaves: Map<WatchedName, () => void>;
}

/** The live feed of one console. */
export class LiveFeed {
  readonly #everloop: ConsoleClient;
  readonly #pingMs: number;
  readonly #everyMs: number | undefined;
  readonly #tabs = new Map<string, Connected>();
  readonly #trees = new Map<string, { readonly watch: Watch; count: number }>();
  readonly #runs: FollowedRuns;
  readonly #list: Watch;
  readonly #inbox: Watch;
  readonly #news: ListNews;

  constructor({ everloop, reader, times = {} }: LiveFeedParts) {
    const { pingMs = PING_MS, everyMs, ...followed } = times;
    this.#everloop = everloop;
    this.#pingMs = pingMs;
    this.#everyMs = everyMs;
    const attach = (id: string): RunHandle => everloop.attach(id);
    this.#runs = createFollowedRuns({ attach, reader, retryMs: everyMs, ...followed });
    this.#list = watchRuns(everloop, everyMs);
    this.#inbox = watchInbox(everloop, everyMs);
    this.#news = createListNews(everloop, () => this.#hurryLists());
  }

  /**
   * Connects a tab; the bytes are server-sent events.
   *
   * @throws ConsoleRefusal `busy` when too many are connected; UsageError for an id that no run can
   * have.
   */
  open(wants: LiveWants, role: ConsoleRole): ReadableStream<Uint8Array> {
    const reading = [...this.#tabs.values()].filter((one) => one.role === 'read').length;
    const most = role === 'read' ? MAX_READING_TABS : MAX_TABS;
    if (this.#tabs.size >= MAX_TABS || (role === 'read' && reading >= most)) {
      throw new ConsoleRefusal('busy', `Expected at most ${most} open tabs. Close some.`);
    }
    const connection = randomUUID();
    const tab = new Tab(() => connected.looker?.onRoom());
    const ping = (): void => {
      tab.push({ kind: 'ping', at: Date.now() });
      // A tab that reads nothing does not read the end of the stream either.
      if (tab.isClosed) this.#end(connection);
    };
    const timer = setInterval(ping, this.#pingMs).unref();
    const connected: Connected = { role, tab, timer, wants: {}, looker: null, leaves: new Map() };
    this.#tabs.set(connection, connected);
    tab.push({ kind: 'hello', connection });
    try {
      this.#apply(connected, wants);
    } catch (error) {
      this.#end(connection);
      throw error;
    }
    return streamOf(tab, () => this.#end(connection));
  }

  /**
   * Changes what a tab wants.
   *
   * @throws ConsoleRefusal `not_found` for a connection that is gone.
   */
  change(connection: string, wants: LiveWants): void {
    const connected = this.#tabs.get(connection);
    if (connected === undefined) {
      throw new ConsoleRefusal(
        'not_found',
        'Expected an open connection, got none. Connect again.',
      );
    }
    this.#apply(connected, wants);
  }

  /** Has tabs see at once what an action on run `id` does. */
  hurry(id: string): void {
    this.#runs.hurry(id);
    this.#hurryLists();
  }

  /** Disconnects all tabs. */
  close(): void {
    for (const connection of this.#tabs.keys()) this.#end(connection);
    this.#runs.close();
    this.#list.close();
    this.#inbox.close();
    this.#news.close();
  }

  #hurryLists(): void {
    this.#list.hurry();
    this.#inbox.hurry();
  }

  #apply(connected: Connected, wants: LiveWants): void {
    const { tab, wants: before } = connected;
    const { run, after, tree, list, inbox } = wants;
    // An id that no run can have is refused before anything changes.
    if (run !== undefined) this.#everloop.attach(run);
    if (run !== before.run || after !== before.after) {
      connected.looker?.leave();
      connected.looker = run === undefined ? null : this.#runs.look(run, tab, after);
    }
    if (run !== before.run) leave(connected, 'tree');
    connected.wants = wants;
    watch(connected, 'list', list, () => this.#list.join(tab));
    watch(connected, 'inbox', inbox, () => this.#inbox.join(tab));
    watch(connected, 'news', list === true || inbox === true, () => this.#news.listen());
    watch(connected, 'tree', tree === true && run !== undefined, () =>
      this.#joinTree(run ?? '', tab),
    );
  }

  #joinTree(id: string, tab: Tab): () => void {
    const watched = watchTree(this.#everloop, id, this.#everyMs);
    const known = this.#trees.get(id) ?? { watch: watched, count: 0 };
    this.#trees.set(id, known);
    known.count += 1;
    const leaveTree = known.watch.join(tab);
    return () => {
      leaveTree();
      known.count -= 1;
      if (known.count > 0) return;
      known.watch.close();
      this.#trees.delete(id);
    };
  }

  #end(connection: string): void {
    const connected = this.#tabs.get(connection);
    if (connected === undefined) return;
    this.#tabs.delete(connection);
    clearInterval(connected.timer);
    connected.looker?.leave();
    for (const name of connected.leaves.keys()) leave(connected, name);
    connected.tab.close();
  }
}

/** Begins or ends to watch a list, if that has changed. */
function watch(
  connected: Connected,
  name: WatchedName,
  wanted: boolean | undefined,
  join: () => () => void,
): void {
  const isWatched = connected.leaves.has(name);
  if (wanted === true && !isWatched) connected.leaves.set(name, join());
  if (wanted !== true && isWatched) leave(connected, name);
}

function leave({ leaves }: Connected, name: WatchedName): void {
  leaves.get(name)?.();
  leaves.delete(name);
}

/** The frames of `tab` as bytes: none is taken before the reader wants it. */
function streamOf(tab: Tab, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const frame = await tab.next();
        if (frame !== null) return controller.enqueue(encoder.encode(frameText(frame)));
        onEnd();
        controller.close();
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}

/** JSON has no raw line break, so the data is one line. */
function frameText({ kind, ...data }: LiveFrame): string {
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
