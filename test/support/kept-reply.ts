/**
 * A run whose worker ends when a reply is whole and a read beside it is still open: the heartbeat has
 * the reply, and another worker goes on with it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf, type Protection } from '../../src/protection/protection.ts';
import type { FixtureProcesses } from './child-process.ts';
import type { KeptReplyWorker } from './fixtures/serve-kept-reply.ts';
import type { Stage } from './stage.ts';
import { streamingModel } from './streamed-calls.ts';

/** Reads once, then answers. `look` is what a call of its tool does first; default: nothing. */
export function keptReplyAgent(
  folder: string,
  look: () => Promise<void> = () => Promise.resolve(),
): AgentDefinition {
  const note = (line: string): void => appendFileSync(notesIn(folder), `${line}\n`);
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    execute: async (_args, { callId, attempt }) => {
      note(`look ${callId} ${attempt}`);
      await look();
      return 'seen';
    },
  });
  const model = streamingModel(({ replies }) => {
    note(`asked ${replies + 1}`);
    return replies === 0 ? [{ call: 'look', args: {} }] : [{ text: 'done' }];
  });
  const entry = { id: 'streaming', model };
  return defineAgent({ name: 'reader', mode: 'chat', model: entry, tools: [tool] });
}

/** How the data of a run is stored that `key` encrypts, in hexadecimal digits; absent: as it is. */
export function protectionBy(key: string | undefined): Protection {
  if (key === undefined) return NO_PROTECTION;
  const keys = keyRing({ current: 'k1', keys: { k1: Buffer.from(key, 'hex') } });
  return protectionOf({ keys });
}

/** A run that was played, and what was seen of it. */
export interface PlayedKeptReply {
  readonly run: RunHandle;
  /** What its model and its tool have noted. */
  readonly notes: readonly string[];
  /** The last heartbeat of the lost worker as the service stored it, as text. */
  readonly beat: string;
}

/** Plays it to its end; `key` as {@link protectionBy}. */
export async function playKeptReply(
  stage: Stage,
  processes: FixtureProcesses<KeptReplyWorker>,
  taskQueue: string,
  key?: string,
): Promise<PlayedKeptReply> {
  const folder = await mkdtemp(join(stage.folder, 'kept-reply-'));
  const { address, namespace } = stage;
  const archiveDir = join(folder, 'archive');
  const keyed = key === undefined ? {} : { key };
  const place = { address, namespace, archiveDir, taskQueue, folder, ...keyed };
  const first = await processes.start({ ...place, isFatal: true });
  const everloop = stage.everloopOf(taskQueue, archiveDir, protectionBy(key));
  const run = await everloop.start('reader', { task: 'Look.' });
  await first.ended;
  await processes.start(place);
  await run.result();
  const beat = await lastBeat(stage, run);
  const file = notesIn(folder);
  const notes = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return { run, notes, beat };
}

/** The history keeps it in the time-out of the call; the service itself forgets it with the call. */
async function lastBeat({ client }: Stage, run: RunHandle): Promise<string> {
  const { events } = await client.workflow.getHandle(run.id).fetchHistory();
  const payloads = events?.flatMap(
    ({ activityTaskTimedOutEventAttributes: timedOut }) =>
      timedOut?.failure?.timeoutFailureInfo?.lastHeartbeatDetails?.payloads ?? [],
  );
  return (payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString('latin1')).join('\n');
}

function notesIn(folder: string): string {
  return join(folder, 'notes.txt');
}
