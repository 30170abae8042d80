/** What tools give to the page of a chat: kept parts, files, and calls that the page executes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/core/base/json.ts';
import { isOwnEvent, type AgentEvent } from '../../../src/core/contract/events.ts';
import { keptParts, toolFiles } from '../../../src/core/streaming/page-parts.ts';
import type { ToolContext, ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { clientTool } from '../../../src/define/tool/client-tool.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { toolResult } from '../../../src/define/tool/tool-result.ts';
import { reporter } from '../../../src/tools/reporter.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { bodiesOf, ownEventsOf, START, type StartedRun } from '../../support/runs.ts';

function start(
  tools: readonly ToolDefinition[],
  ...replies: readonly (readonly (readonly [string, object])[])[]
): StartedRun {
  const clock = createFakeClock(START);
  const script = scriptedModel([
    ...replies.map((calls) => ({
      toolCalls: calls.map(([name, args]) => ({ name, args: args as never })),
    })),
    'done',
  ]);
  const agent = defineAgent({ name: 'guide', model: script.model, tools });
  return { run: startInMemory({ agent, task: 'Go', clock }), script, clock };
}

function emitter(emit: (context: ToolContext, city: string) => void): ToolDefinition {
  return defineTool({
    name: 'weather',
    description: 'Tells the weather.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }, context) => {
      emit(context, city);
      return 'told';
    },
  }) as ToolDefinition;
}

describe('a kept part', () => {
  it('is recorded once for each call, and shown as it was last [chat 9]', async () => {
    const tool = emitter(({ emit }, city) => {
      emit('weather:card', { city, sky: null }, { id: city, keep: true });
      emit('weather:log', 'asked');
      emit('weather:card', { city, sky: 'clear' }, { id: city, keep: true });
    });
    const cities = ['Rome', 'Oslo', 'Rome'].map((city) => [['weather', { city }]] as const);
    const { run } = start([tool], ...cities);
    await run.result;

    const card = (city: string, callId: string): object => ({
      type: 'weather:card',
      data: { city, sky: 'clear' },
      id: city,
      keep: true,
      callId,
    });
    expect(ownEventsOf(run.events)).toEqual([
      card('Rome', '1.1'),
      { type: 'weather:log', data: 'asked', callId: '1.1' },
      card('Oslo', '2.1'),
      { type: 'weather:log', data: 'asked', callId: '2.1' },
      card('Rome', '3.1'),
      { type: 'weather:log', data: 'asked', callId: '3.1' },
    ]);
    expect(keptParts(run.events).map(({ id, callId }) => [id, callId])).toEqual([
      ['Rome', '3.1'],
      ['Oslo', '2.1'],
    ]);
  });

  it.each<{ readonly name: string; readonly options: object; readonly message: string }>([
    { name: 'no id', options: { keep: true }, message: 'Expected an `id` of event `a:b`' },
    { name: 'an empty id', options: { id: '' }, message: 'to be text of 1 to 200 characters' },
    { name: 'a long id', options: { id: 'x'.repeat(201) }, message: 'text of 1 to 200 characters' },
    { name: 'another keep', options: { id: 'a', keep: 'yes' }, message: 'to be true or false' },
    { name: 'another option', options: { kept: true }, message: '`kept`' },
  ])('is refused with $name', ({ options, message }) => {
    expect(() => reporter().emit('a:b', 1, options)).toThrow(message);
  });

  it('is one of a hundred in a call at most, and a part that changes costs its last size', () => {
    const { emit, reports } = reporter();
    for (let part = 0; part < 100; part++) emit('a:b', part, { id: `${part}`, keep: true });
    expect(() => emit('a:b', 0, { id: 'new', keep: true })).toThrow('at most 100 parts');
    for (let turn = 0; turn < 100; turn++) {
      emit('a:b', 'x'.repeat(16_000), { id: '7', keep: true });
    }
    expect(reports().events).toHaveLength(100);
  });

  it('is the last of its name and id, in the order in which they came (property)', () => {
    const emitted = fc.array(
      fc.record({
        type: fc.constantFrom('a:x', 'a:y'),
        id: fc.constantFrom('1', '2', '3'),
        data: fc.integer(),
        keep: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(emitted, (all) => {
        const events = all.map(({ keep, ...event }, at) => ({
          ...event,
          ...(keep && { keep }),
          runId: 'r',
          seq: at + 1,
        })) as unknown as readonly AgentEvent[];
        const kept = all.filter(({ keep }) => keep);
        const keys = [...new Set(kept.map(({ type, id }) => `${type} ${id}`))];
        const last = keys.map((key) => kept.findLast(({ type, id }) => `${type} ${id}` === key));

        expect(keptParts(events).map(({ data }) => data)).toEqual(last.map((one) => one?.data));
      }),
    );
  });

  it('is one of the newest that fit', () => {
    const events = Array.from({ length: 2_000 }, (_, at) => ({
      type: 'a:b',
      id: `${at}`,
      keep: true,
      data: at < 1_900 ? at : ('x'.repeat(15_000) as Json),
      runId: 'r',
    })) as unknown as readonly AgentEvent[];

    expect(keptParts(events).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 66 }, (_, at) => 1_934 + at),
    );
  });
});

describe('a file of a tool', () => {
  it('is told with the end of its call, and stands in the transcript', async () => {
    const picture = (mediaType: string, data: string) =>
      ({ type: 'media', mediaType, data }) as const;
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      parameters: z.object({ of: z.string() }),
      execute: ({ of }) =>
        toolResult({ media: [picture('image/png', btoa(of)), picture('image/gif', btoa(of))] }),
    }) as ToolDefinition;
    const { run } = start(
      [draw],
      [
        ['draw', { of: 'cat' }],
        ['draw', { of: 'dog' }],
      ],
    );
    await run.result;

    expect(bodiesOf(run.events, 'agent:tool_call:after').map(({ media }) => media)).toEqual([
      ['image/png', 'image/gif'],
      ['image/png', 'image/gif'],
    ]);
    expect(run.entries.flatMap(toolFiles)).toEqual(
      ['cat', 'dog'].flatMap((of) => [
        picture('image/png', btoa(of)),
        picture('image/gif', btoa(of)),
      ]),
    );
  });
});

describe('a tool that the page executes', () => {
  it('waits for its result, which the model reads, and fails when its time is up', async () => {
    const place = clientTool({
      name: 'place',
      description: 'Where the user is.',
      parameters: z.object({ exact: z.boolean() }),
      timeoutMs: 60_000,
    }) as ToolDefinition;
    const { run, script, clock } = start(
      [place],
      [['place', { exact: true }]],
      [['place', { exact: 'no' }]],
      [['place', { exact: false }]],
    );
    await run.resultOrPending();
    expect(run.pending()).toMatchObject([
      {
        kind: 'external',
        id: '1.1',
        tool: 'place',
        args: { exact: true },
        details: { client: true },
      },
    ]);
    run.answer('1.1', { city: 'Rome' });
    await run.resultOrPending();
    clock.advance(60_000);
    await run.result;

    const read = script.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(read[1]).toContain('Rome');
    expect(read[2]).toContain('Error: ');
    expect(read[3]).toContain('place did not finish within 60 s');
    expect(run.events.filter((event) => isOwnEvent(event))).toEqual([]);
  });
});
