/** What tools emit reaches readers while the tool runs, wherever it runs. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { callToolActivity } from '../../src/activities/tool-activities.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import type { ToolOrder } from '../../src/core/contract/outcome.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createToolPlaces } from '../../src/tools/isolate/tool-places.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { gate } from '../support/runs.ts';

const order: ToolOrder = {
  agent: 'builder',
  runId: 'run',
  rootRunId: 'root',
  agentPath: 'lead/1/builder',
  callId: '3.1',
  tool: 'build',
  args: {},
};

it('gives what a tool emits to readers at once, and records it with the result', async () => {
  const heard = gate();
  const build = defineTool({
    name: 'build',
    description: 'Builds.',
    execute: async (_args, { emit }) => {
      emit('build:log', { line: 'compiling' });
      await heard.opened;
      emit('build:log', { line: 'done' }, { id: 'log', keep: true });
      return 'built';
    },
  });
  const agent = defineAgent({
    name: 'builder',
    model: { id: 'm', model: async () => '' },
    tools: [build],
  });
  const bus = createChunkBus();
  const callTool = callToolActivity({
    registry: createRegistry({ agents: [agent] }),
    places: createToolPlaces(),
    readContext: () => Promise.resolve(undefined),
    chunks: bus,
  });
  const items: (Chunk | ChunkMarker)[] = [];
  const subscription = bus.subscribe({ rootRunId: 'root' });
  const reading = (async () => {
    for await (const item of subscription) {
      items.push(item);
      heard.open();
    }
  })();

  const result = await new MockActivityEnvironment().run(callTool, order);
  bus.close();
  await reading;

  const origin = { rootRunId: 'root', runId: 'run', agentPath: 'lead/1/builder', callId: '3.1' };
  const topic = { ...origin, kind: 'topic', topic: 'build:log', iteration: 3, attempt: 1 };
  expect(items).toEqual([
    { ...topic, seq: 1, delta: '{"line":"compiling"}' },
    { ...topic, seq: 2, delta: '{"line":"done"}', id: 'log', keep: true },
  ]);
  expect(collect(items)).toEqual({ text: '', reasoning: '', complete: false });
  expect(result).toMatchObject({
    outcome: 'ok',
    events: [
      { type: 'build:log', data: { line: 'compiling' } },
      { type: 'build:log', data: { line: 'done' }, id: 'log', keep: true },
    ],
  });
});
