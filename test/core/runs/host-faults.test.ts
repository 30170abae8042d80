import { INLINE_SIZES } from '../../../src/core/base/size-limits.ts';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { Host } from '../../../src/core/run/host.ts';
import { createMailbox, EMPTY_INBOX } from '../../../src/core/run/inbox.ts';
import { nextOf, runLoop } from '../../../src/core/loop/loop.ts';
import { createRun } from '../../../src/core/run/run.ts';
import { startState } from '../../../src/core/run/run-state.ts';
import { noUsage } from '../../../src/core/model/usage.ts';
import { act, typesOf } from '../../support/runs.ts';
import { reactSpec } from './spec-fixture.ts';

/** A host whose model makes one call; what else it does is up to the test. */
function hostWith(fields: Partial<Host>, events: AgentEvent[]): Host {
  return {
    link: {
      address: 'run',
      isHandoverDue: () => false,
      isFull: () => false,
      sizes: INLINE_SIZES,
      fits: () => true,
    },
    runChild: async () => ({ kind: 'unstarted', message: 'no children here' }),
    send: () => undefined,
    now: () => 0,
    computing: { run: (_kind, work) => work(), endSlice: async () => undefined },
    callModel: async () => ({
      kind: 'reply',
      reply: {
        parts: [{ type: 'text', text: act('a', 'b') }],
        finishReason: 'stop',
        usage: noUsage,
        usageKnown: true,
        model: 'm',
      },
      attempts: 1,
    }),
    callTool: async () => {
      throw new Error('not asked for');
    },
    judgeAnswer: async () => ({ kind: 'aborted' }),
    abort: () => undefined,
    mailbox: createMailbox(EMPTY_INBOX, () => undefined),
    needsApproval: async () => ({ kind: 'aborted' }),
    checkLiterals: async () => ({ kind: 'aborted' }),
    waits: { until: async () => undefined, wake: () => undefined },
    isIdle: () => true,
    setDeadline: () => undefined,
    publish: (event) => void events.push(event),
    ...fields,
  };
}

describe('a host that breaks its contract', () => {
  it.each<{ name: string; fields: Partial<Host>; cause: string; last: string }>([
    {
      name: 'rejects a model call',
      fields: { callModel: () => Promise.reject(new Error('lost model')) },
      cause: 'lost model',
      last: 'model_call:before',
    },
    {
      name: 'throws in a model call',
      fields: {
        callModel: () => {
          throw new Error('no model');
        },
      },
      cause: 'no model',
      last: 'model_call:before',
    },
    {
      name: 'rejects a tool call',
      fields: { callTool: () => Promise.reject(new Error('lost tool')) },
      cause: 'lost tool',
      last: 'tool_call:before',
    },
  ])('[row 4] and $name ends the run as `internal`', async ({ fields, cause, last }) => {
    const events: AgentEvent[] = [];
    const identity = { runId: 'run-1', agentPath: 'tester', depth: 0, startedAt: 0 };
    const head = { spec: reactSpec(), task: { text: 'Go' } };
    const host = hostWith(fields, events);
    const run = createRun(startState(identity, head), host);

    const end = await runLoop(run, nextOf(head.spec));

    expect(end).toEqual({ kind: 'ended', ending: { kind: 'error', code: 'internal', cause } });
    expect(typesOf(events).slice(-4)).toEqual([
      last,
      'iteration:after',
      'error',
      'execution:after',
    ]);
  });
});
