/** A chat of 400 KB that continues for 100 model calls, with a result of 5 KB for each. */
import type { StartOptions } from '../../src/client/everloop-client.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { WorkerParts } from '../../src/worker/serve/create-worker.ts';
import type { Stage } from './bench-stage.ts';
import { readLinks, type Link } from './history-reader.ts';
import { instantAgent } from './instant-agent.ts';

/** Model calls of the chat. */
export const CALLS = 100;

/** Bytes of the conversation before it. */
export const CHAT_BYTES = 400_000;

/** Bytes of each result. */
export const RESULT_BYTES = 5_000;

/** Plays the chat, and returns what it left; `local`: its tool runs as a local activity. */
export function runLongChat(
  stage: Stage,
  { local = false, ...options }: { readonly local?: boolean } & Partial<WorkerParts> = {},
): Promise<readonly Link[]> {
  const agent = instantAgent('chat', { mode: 'chat', resultBytes: RESULT_BYTES, local });
  // The last model call answers, so 100 model calls mean 99 tool calls.
  const start = { task: String(CALLS - 1), history: chatOf(CHAT_BYTES) };
  return runToEnd(stage, agent, start, options);
}

/** Plays a run with as many iterations as its task says and one more. */
export async function runToEnd(
  stage: Stage,
  agent: AgentDefinition,
  start: StartOptions,
  options: Partial<WorkerParts> = {},
): Promise<readonly Link[]> {
  const { everloop, stop } = await stage.serve([agent], options);
  const run = await everloop.start(agent.name, { ...start, limits: 'unlimited' });
  const { iterations, status } = await run.result();
  const expected = Number(start.task) + 1;
  if (status !== 'success' || iterations !== expected) {
    throw new Error(`Expected ${expected} iterations and success, got ${iterations}, ${status}.`);
  }
  const links = await readLinks(stage.client, run.id);
  await stop();
  return links;
}

/** An earlier conversation of about `bytes`, in turns of 4 KB. */
function chatOf(bytes: number): NonNullable<StartOptions['history']> {
  const turns = Math.ceil(bytes / 4_000);
  return Array.from({ length: turns }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: 'It was said before. '.repeat(200),
  }));
}
