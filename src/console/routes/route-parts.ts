/** What the routes of a console have in common. */
import type { Hono } from 'hono';
import type { RunHandle } from '../../client/run-handle.ts';
import type { StatedActor } from '../../core/contract/pending.ts';
import { clip } from '../../core/text/cut.ts';
import { wellFormedText } from '../../core/text/well-formed.ts';
import type { Asker, ConsoleEnv } from '../access.ts';
import type { PerformAction } from '../actions.ts';
import type { AgentBook } from '../agent-book.ts';
import type { MetaAnswer } from '../api.ts';
import type { BoundedReads } from '../bounded-reads.ts';
import type { ConsoleClient } from '../console-client.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import type { RunReader } from '../run-reader.ts';

/** The API of a console. */
export type ConsoleApp = Hono<ConsoleEnv>;

/** What routes work with. */
export interface RouteParts {
  readonly everloop: ConsoleClient;
  readonly reader: RunReader;
  readonly reads: BoundedReads;
  readonly act: PerformAction;
  readonly feed: LiveFeed;
  readonly agents: AgentBook;
  /** Where the console stands. */
  readonly place: Pick<MetaAnswer, 'address' | 'namespace' | 'temporalUi'> & {
    /** Of the workers whose runs it starts. */
    readonly taskQueue?: string;
  };
}

/** Adds routes to the API. */
export type AddRoutes = (app: ConsoleApp, parts: RouteParts) => void;

/** A read of run `id`, shared with others of the same `name`, and bounded in time. */
export function readingOf(
  { everloop, reads }: Pick<RouteParts, 'everloop' | 'reads'>,
  id: string,
): <Value>(name: string, read: (run: RunHandle) => Promise<Value>) => Promise<Value> {
  const run = everloop.attach(id);
  return (name, read) => reads.once(`${name} ${id}`, () => read(run));
}

/** Characters of a name that events keep. */
const MAX_ACTOR = 200;

/** Who acts, as events keep it; a proxy may name somebody at any length. */
export function actorOf({ user }: Asker): StatedActor {
  const by = user === null ? '' : clip(wellFormedText(user.trim()), MAX_ACTOR);
  return by === '' ? {} : { by };
}
