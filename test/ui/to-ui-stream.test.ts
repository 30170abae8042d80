/** The stream of a run whose queries fail at times, as those of a busy worker do. */
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { PendingItem, RunStatus } from '../../src/core/contract/messages.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { toUIMessageStream, type StreamedHandle } from '../../src/ui/to-ui-stream.ts';
import type { UIChunk } from '../../src/ui/ui-chunk.ts';
import { fakeRun } from '../cli/cli-fixture.ts';

const away = new UsageError('no_worker', 'Expected a worker, got none.');

const approval: PendingItem = {
  id: '1.1',
  kind: 'approval',
  tool: 'book',
  args: { what: 'a table' },
  agent: 'host',
  path: 'host',
  since: 0,
};

const replied = {
  seq: 1,
  iteration: 1,
  type: 'agent:model_call:after',
  purpose: 'reply',
  model: 'm',
} as AgentEvent;

/** A run that has replied and waits for approval; its events can be read after `failures` more. */
function waitingRun(failures: number): StreamedHandle {
  let reads = 0;
  return fakeRun('host-1', {
    status: async () =>
      ({ version: 1, state: 'waiting', waitsFor: ['approval 1.1'] }) as unknown as RunStatus,
    pending: async () => [approval],
    events: async ({ from = 0 } = {}) => {
      reads += 1;
      if (reads === 1) return [];
      if (reads <= 1 + failures) throw away;
      return [replied].slice(from);
    },
    current: async () => ({
      iteration: 1,
      reply: { model: 'm', parts: [{ type: 'text', text: 'I book.' }], finishReason: 'stop' },
      calls: [],
    }),
    result: () => new Promise(() => undefined),
    stream: async function* () {},
  });
}

test.each([0, 1, 2, 5])(
  'a message that ends for an approval has its text first, after %i failed reads',
  async (failures) => {
    const chunks: UIChunk[] = [];
    for await (const chunk of toUIMessageStream(waitingRun(failures))) chunks.push(chunk);

    const kinds = chunks.map(({ type }) => type);
    expect(kinds).toContain('text-start');
    expect(kinds.at(-1)).toBe('finish');
    expect(kinds.filter((kind) => kind === 'tool-approval-request')).toHaveLength(1);
    expect(kinds.indexOf('text-start')).toBeLessThan(kinds.indexOf('tool-input-available'));
  },
);
