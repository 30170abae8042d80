/** What streams of a run on a server: kinds, tries that are void, and that it ends as the reply. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { modelAt, sse } from '../support/aimock.ts';
import { answer, searchTool } from '../support/runs.ts';
import { piece, startSlowProvider, type ProviderReply } from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

/** All that a run of `agent` streams, and its Step. */
async function watch(agent: AgentDefinition): Promise<{
  readonly items: readonly (Chunk | ChunkMarker)[];
  readonly value: unknown;
}> {
  const { everloop, chunks } = await stage.serve([agent]);
  const items: (Chunk | ChunkMarker)[] = [];
  const subscription = chunks.subscribe({});
  const reading = (async () => {
    for await (const item of subscription) items.push(item);
  })();
  const run = await everloop.start(agent.name, { task: 'Go' });
  const step = await run.result();
  chunks.close();
  await reading;
  await stage.replay(run);
  return { items, value: step.value };
}

/** An item in short: `1.1.2 text Hel`, the iteration, the attempt and the number first. */
function shown(item: Chunk | ChunkMarker): string {
  const place = `${item.iteration}.${item.attempt}.${item.seq}`;
  return 'delta' in item ? `${place} ${item.kind} ${item.delta}` : `${place} ${item.kind}`;
}

describe('what streams of a run [row 54]', () => {
  it('is reasoning, text and arguments, each reply ended', async () => {
    const model: ModelFunction = async ({ iteration }, { onChunk }) => {
      if (iteration === 2) return 'All is found.';
      onChunk({ kind: 'reasoning', delta: 'It must be ' });
      onChunk({ kind: 'reasoning', delta: 'there.' });
      onChunk({ kind: 'text', delta: 'I look.' });
      onChunk({ kind: 'tool_args', delta: '{"query":' });
      onChunk({ kind: 'tool_args', delta: '"x"}' });
      const toolCalls = [{ name: 'search', args: { query: 'x' } }];
      return { reasoning: 'It must be there.', content: 'I look.', toolCalls };
    };

    const { items, value } = await watch(
      defineAgent({
        name: 'tester',
        mode: 'chat',
        model: { id: 'm', model },
        tools: [searchTool()],
      }),
    );

    expect(value).toBe('All is found.');
    expect(items.map(shown)).toEqual([
      '1.1.1 reasoning It must be ',
      '1.1.2 reasoning there.',
      '1.1.3 text I look.',
      '1.1.4 tool_args {"query":',
      '1.1.5 tool_args "x"}',
      '1.1.6 end',
      // A model that says nothing meanwhile sends one piece of each kind.
      '2.1.1 text All is found.',
      '2.1.2 end',
    ]);
    expect(collect(items)).toEqual({
      text: 'I look.All is found.',
      reasoning: 'It must be there.',
      complete: true,
    });
  });

  it.each<{ name: string; first: ProviderReply; void: readonly string[] }>([
    {
      name: 'a broken stream',
      first: (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse([piece('<answer>half')]));
        setTimeout(() => response.destroy(), 50);
      },
      void: ['1.1.1 text <answer>half', '1.1.2 error'],
    },
    {
      name: 'a refusal',
      first: (response) => {
        response.writeHead(503, { 'content-type': 'application/json' });
        response.end('{}');
      },
      void: ['1.1.1 error'],
    },
  ])('begins again after $name, over HTTP', async ({ first, void: lost }) => {
    const provider = await startSlowProvider([first, answer('whole')]);
    const model = { id: 'm', model: modelAt(provider.url, 'openai-compatible') };

    const { items, value } = await watch(defineAgent({ name: 'tester', mode: 'react', model }));
    await provider.stop();

    expect(value).toBe('whole');
    expect(items.map(shown)).toEqual([
      ...lost,
      '1.2.1 restart',
      '1.2.2 text <answer>whole</answer>',
      '1.2.3 end',
    ]);
    expect(collect(items)).toEqual({
      text: '<answer>whole</answer>',
      reasoning: '',
      complete: true,
    });
  });
});
