/** The recorded runs whose reads cost no activity of their own. */
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { textOf } from '../../src/core/base/message.ts';
import { CALLS_TO_KNOW } from '../../src/tools/tool-figures.ts';
import { fixtureProcesses } from './child-process.ts';
import { eventually } from './eventually.ts';
import type { KeptReplyWorker } from './fixtures/serve-kept-reply.ts';
import { playKeptReply } from './kept-reply.ts';
import { abortOf, gate } from './runs.ts';
import type { Stage } from './stage.ts';
import { streamingModel, type StreamStep } from './streamed-calls.ts';

type Look = (at: number, signal: AbortSignal) => unknown;

function lookTool(look: Look, effect: 'read' | 'idempotent' = 'read'): ToolDefinition {
  return defineTool({
    name: effect === 'read' ? 'look' : 'put',
    description: 'Looks, or puts.',
    parameters: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
    effect,
    execute: ({ at }, { signal }) => look(Number(at), signal as AbortSignal) as never,
  }) as ToolDefinition;
}

/**
 * A run on a worker that knows its tool: two calls at once and one alone, all local, then one that is
 * too slow and goes on as a regular call.
 */
export async function playLocalReads(stage: Stage): Promise<RunHandle> {
  const freed = gate();
  const tool = lookTool(async (at, signal) => {
    if (at === SLOW_AT) await Promise.race([freed.opened, abortOf(signal)]);
    return `seen ${at}`;
  });
  const known = Array.from({ length: CALLS_TO_KNOW }, (_, at) => at + 100);
  const scripts: Readonly<Record<string, readonly (readonly number[])[]>> = {
    'Get to know.': [known],
    'Look.': [[1, 2], [3], [SLOW_AT]],
  };
  const agent = defineAgent({
    name: 'reader',
    mode: 'chat',
    model: {
      id: 'script/model',
      model: async ({ iteration, messages }) => {
        const text = messages.map(textOf).join(' ');
        const task = Object.keys(scripts).find((name) => text.includes(name)) ?? '';
        const calls = scripts[task]?.[iteration - 1];
        if (calls === undefined) return 'done';
        return { toolCalls: calls.map((at) => ({ name: 'look', args: { at } })) };
      },
    },
    // With one, reads do not run beside replies.
    modelMiddleware: [(request, next) => next(request)],
    tools: [tool],
  });
  const { everloop } = await stage.serve([agent]);
  await (await everloop.start('reader', { task: 'Get to know.' })).result();
  const run = await everloop.start('reader', { task: 'Look.' });
  await eventually('the regular call', async () => {
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    return (events ?? []).some(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'callTool',
    );
  });
  freed.open();
  await run.result();
  return run;
}

/** A call that takes too long for a local try. */
const SLOW_AT = 4;

/**
 * Reads beside replies: one that ends, one beside a reply that breaks, one that the bounds end, and a
 * write in the turn of a read.
 */
export async function playReadsBeside(stage: Stage): Promise<RunHandle> {
  const ran = gate();
  let tries = 0;
  const look = lookTool(async (at, signal) => {
    ran.open();
    // The first try is ended by the bounds of reads, the second is a call of the turn.
    if (at === SLOW_AT && (tries += 1) === 1) await abortOf(signal);
    return `seen ${at}`;
  });
  const put = lookTool((at) => `put ${at}`, 'idempotent');
  const overloaded = Object.assign(new Error('Overloaded'), {
    statusCode: 503,
    responseHeaders: { 'retry-after-ms': '1' },
  });
  const call = (tool: string, at: number): StreamStep => ({ call: tool, args: { at } });
  const replies: readonly (readonly StreamStep[])[] = [
    [call('look', 1), { wait: ran.opened }, call('put', 1)],
    [call('look', 2), { fail: overloaded }],
    [call('look', 3)],
    [call('look', SLOW_AT)],
  ];
  const model = streamingModel(({ number }) => replies[number - 1] ?? [{ text: 'done' }]);
  const agent = defineAgent({
    name: 'reader',
    mode: 'chat',
    model: { id: 'streaming', model },
    tools: [look, put],
  });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('reader', { task: 'Look.' });
  await run.result();
  return run;
}

/** A worker that is lost when only a read beside its reply is open. */
export async function playLostBeside(stage: Stage): Promise<RunHandle> {
  const processes = fixtureProcesses<KeptReplyWorker>('serve-kept-reply');
  try {
    return (await playKeptReply(stage, processes, 'recorded-kept-reply')).run;
  } finally {
    await processes.stop();
  }
}
