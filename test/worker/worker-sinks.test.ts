import { describe, expect, it } from 'vitest';
import type { AgentEvent, EventPlace } from '../../src/core/contract/events.ts';
import { subscribe, type EventFilter } from '../../src/worker/serve/subscribe.ts';
import { createTranscriptCache } from '../../src/worker/serve/transcript-cache.ts';
import { createSinks, type EventListener } from '../../src/worker/serve/worker-sinks.ts';

const base = { runId: 'r', agentPath: 'a', at: 0, iteration: 1, depth: 0 };
const events: readonly AgentEvent[] = [
  { ...base, agent: 'a', seq: 1, type: 'agent:iteration:before' },
  { ...base, agent: 'b', seq: 2, type: 'agent:iteration:before' },
  { ...base, agent: 'a', seq: 3, type: 'agent:paused' },
  { ...base, agent: 'b', seq: 4, type: 'agent:resumed' },
];

/** What an activation of a workflow sends to the listeners of its worker. */
function publish(
  listeners: readonly EventListener[],
  onListenerError: (error: unknown, event: AgentEvent) => void = () => undefined,
): void {
  const cache = createTranscriptCache({ maxBytes: 0 });
  const { events: sink } = createSinks({ cache, listeners, onListenerError });
  void sink.publish.fn({} as never, events, {} as EventPlace);
}

describe('[row 48] listeners', () => {
  it('hear each event in order, and are not called on replay', () => {
    const heard: AgentEvent[] = [];
    const cache = createTranscriptCache({ maxBytes: 0 });

    publish([(event) => heard.push(event)]);

    expect(heard).toEqual(events);
    const sinks = createSinks({ cache, listeners: [], onListenerError: () => undefined });
    expect(sinks.events.publish.callDuringReplay).toBe(false);
  });

  it('that throw are told of, and nobody else notices', () => {
    const heard: number[] = [];
    const failed: unknown[] = [];
    const broken = (event: AgentEvent): void => {
      if (event.seq !== 2) throw new Error(`no ${event.seq}`);
    };

    publish([broken, ({ seq }) => heard.push(seq)], (error, { seq }) =>
      failed.push([seq, (error as Error).message]),
    );

    expect(heard).toEqual([1, 2, 3, 4]);
    expect(failed).toEqual([
      [1, 'no 1'],
      [3, 'no 3'],
      [4, 'no 4'],
    ]);
  });

  it.each<{ name: string; filter: EventFilter; heard: readonly number[] }>([
    { name: 'all', filter: {}, heard: [1, 2, 3, 4] },
    { name: 'a type', filter: { types: ['agent:iteration:before'] }, heard: [1, 2] },
    { name: 'two types', filter: { types: ['agent:paused', 'agent:resumed'] }, heard: [3, 4] },
    { name: 'an agent', filter: { agents: ['b'] }, heard: [2, 4] },
    {
      name: 'a type of an agent',
      filter: { types: ['agent:iteration:before'], agents: ['b'] },
      heard: [2],
    },
    { name: 'nothing', filter: { types: [] }, heard: [] },
  ])('that subscribe to $name hear that', ({ filter, heard }) => {
    const seqs: number[] = [];

    publish([subscribe(({ seq }) => seqs.push(seq), filter)]);

    expect(seqs).toEqual(heard);
  });
});
