/** The examples of docs/streaming.md: its code blocks are the regions of this file. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  defineAgent,
  followChunks,
  isChunk,
  namedEndpoints,
  unwrap,
  type AgentDefinition,
  type Chunk,
  type ChunkMarker,
  type EventFeed,
  type Everloop,
  type Json,
  type RunHandle,
} from '../../src/index.ts';
import { openChunkEndpoint, type ChunkEndpoint } from '../../src/worker.ts';

/** Shows the text of a run while it is written, then its answer. */
export async function watch(run: RunHandle, render: (shown: Json) => void): Promise<void> {
  // #region watch
  let text = '';
  let last = { iteration: 0, attempt: 0 };
  for await (const item of run.stream()) {
    // A new iteration, or a new attempt that makes this iteration's text void.
    if (item.iteration !== last.iteration || item.attempt > last.attempt) text = '';
    last = item;
    if (isChunk(item) && item.kind === 'text') text += item.delta;
    render(text);
  }
  const step = await run.result();
  render(unwrap(step)); // the durable answer replaces all that streamed
  // #endregion
}

/** An agent whose models stream only to readers. */
export function quietClerk(): AgentDefinition {
  // #region auto
  const clerk = defineAgent({ name: 'clerk', model: 'large', stream: 'auto' });
  // #endregion
  return clerk;
}

/** Logs each event of a run after number `from`, until it ends. */
export async function logEvents(
  run: RunHandle,
  from: number,
  log: (line: string) => void,
): Promise<void> {
  // #region events
  const onFeed = (feed: EventFeed) => log(`events are ${feed}`);
  for await (const event of run.followEvents({ from, onFeed })) log(`${event.seq} ${event.type}`);
  // #endregion
}

/** Logs which runs end, of all runs. */
export async function logEnds(everloop: Everloop, log: (line: string) => void): Promise<void> {
  // #region pushed
  for await (const item of everloop.pushedEvents({ types: ['agent:execution:after'] })) {
    if (item.kind === 'event') log(`${item.event.runId} has ended`);
  }
  // #endregion
}

/** Starts a run whose stream is open already, and shows all of it. */
export async function ahead(
  everloop: Everloop,
  task: string,
  show: (item: Chunk | ChunkMarker) => void,
): Promise<void> {
  // #region ahead
  const run = await everloop.start('host', { task, stream: true });
  for await (const item of run.stream()) show(item);
  // #endregion
}

/** One address in front of a fleet, for readers that may not reach the workers. */
export async function relay(workers: readonly string[], token: string): Promise<ChunkEndpoint> {
  // #region relay
  const fleet = followChunks({ find: [namedEndpoints(workers, token)] });
  const endpoint = await openChunkEndpoint({ source: fleet, token, host: '127.0.0.1', port: 0 });
  // #endregion
  return endpoint;
}

/** What a server gives to a page that shows a run to its user. */
export async function tokenForPage(run: RunHandle): Promise<string> {
  // #region guest
  const { token } = await run.streamToken({ ttlMs: 900_000 });
  // #endregion
  return token;
}

/** What the page does with it. */
export async function readInPage(
  address: string,
  token: string,
  show: (item: Chunk | ChunkMarker) => void,
): Promise<void> {
  // #region page
  const response = await fetch(`${address}/chunks`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events ?? []) if (event === undefined) show(JSON.parse(data));
  // #endregion
}
