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

/** Plays it to its end: the run, and what its model and its tool have noted. */
export async function playKeptReply(
  stage: Stage,
  processes: FixtureProcesses<KeptReplyWorker>,
  taskQueue: string,
): Promise<{ readonly run: RunHandle; readonly notes: readonly string[] }> {
  const folder = await mkdtemp(join(stage.folder, 'kept-reply-'));
  const { address, namespace } = stage;
  const place = { address, namespace, archiveDir: join(folder, 'archive'), taskQueue, folder };
  const first = await processes.start({ ...place, isFatal: true });
  const run = await stage.everloopOf(taskQueue).start('reader', { task: 'Look.' });
  await first.ended;
  await processes.start(place);
  await run.result();
  const file = notesIn(folder);
  const notes = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return { run, notes };
}

function notesIn(folder: string): string {
  return join(folder, 'notes.txt');
}
