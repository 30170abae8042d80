import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, EventPlace } from '../../src/core/contract/events.ts';
import { spanIdOf, treeTraceId } from '../../src/telemetry/ids.ts';
import { eventLine } from '../../src/worker/serve/event-line.ts';
import { eventsArbitrary } from '../support/events.ts';

const base = {
  seq: 7,
  runId: 'r',
  agent: 'a',
  agentPath: 'a',
  at: Date.parse('2026-03-10T09:00:00.250Z'),
  iteration: 2,
  depth: 0,
};
const shown = {
  time: '2026-03-10T09:00:00.250Z',
  seq: 7,
  runId: 'r',
  agent: 'a',
  agentPath: 'a',
  iteration: 2,
  depth: 0,
};
const call = { callId: '2.1', tool: 'pay', attempts: 1, durationMs: 3 };

describe('[row 47] the line of an event in a log', () => {
  it.each<{ name: string; event: AgentEvent; line: object }>([
    {
      name: 'has all of an event without content',
      event: { ...base, type: 'agent:iteration:after', outcome: 'continue', durationMs: 5 },
      line: { ...shown, event: 'agent:iteration:after', outcome: 'continue', durationMs: 5 },
    },
    {
      name: 'leaves out what a tool got and gave',
      event: {
        ...base,
        ...call,
        type: 'agent:tool_call:after',
        args: { card: '4242' },
        outcome: 'ok',
        output: 'secret',
        started: true,
      },
      line: { ...shown, ...call, event: 'agent:tool_call:after', outcome: 'ok', started: true },
    },
    {
      name: 'tells an error of a model by its code',
      event: {
        ...base,
        type: 'agent:model_call:after',
        model: 'm',
        purpose: 'reply',
        usage: {
          inputTokens: 1,
          outputTokens: 0,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          costMicroUsd: 0,
        },
        usageKnown: false,
        attempts: 8,
        durationMs: 9,
        error: { code: 'model_error', message: 'words of a provider' },
      },
      line: {
        ...shown,
        event: 'agent:model_call:after',
        model: 'm',
        purpose: 'reply',
        usage: {
          inputTokens: 1,
          outputTokens: 0,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          costMicroUsd: 0,
        },
        usageKnown: false,
        attempts: 8,
        durationMs: 9,
        errorCode: 'model_error',
      },
    },
    {
      name: 'leaves out raw text and problems',
      event: {
        ...base,
        type: 'agent:parse_error',
        family: 'format',
        problems: [{ code: 'no_sections', message: 'told' }],
        raw: 'what the model\nwrote',
      },
      line: { ...shown, event: 'agent:parse_error', family: 'format' },
    },
    {
      name: 'leaves out what a person is asked',
      event: { ...base, type: 'agent:question:asked', questionId: 'q1', text: 'Which card?' },
      line: { ...shown, event: 'agent:question:asked', questionId: 'q1' },
    },
    {
      name: 'leaves out why a person denies a call',
      event: {
        ...base,
        type: 'agent:approval:decided',
        callId: '2.1',
        decision: 'deny',
        reason: 'she moved to Bern',
      },
      line: { ...shown, event: 'agent:approval:decided', callId: '2.1', decision: 'deny' },
    },
    {
      name: 'leaves out what a model wrote beside a program, and the program',
      event: { ...base, type: 'agent:turn:read', kind: 'program', blocks: {}, reasoning: 'since' },
      line: { ...shown, event: 'agent:turn:read', kind: 'program', blocks: {} },
    },
    {
      name: 'leaves out programs',
      event: { ...base, type: 'agent:program:before', programId: 'p1', source: '(pay "4242")' },
      line: { ...shown, event: 'agent:program:before', programId: 'p1' },
    },
    {
      name: 'says by a code how a run ended',
      event: { ...base, type: 'agent:execution:after', status: 'success', reason: 'answered' },
      line: { ...shown, event: 'agent:execution:after', status: 'success', reason: 'answered' },
    },
    {
      name: 'leaves out a field that nobody has decided about',
      event: {
        ...base,
        type: 'agent:paused',
        constructor: 'x',
        later: 'y',
      } as unknown as AgentEvent,
      line: { ...shown, event: 'agent:paused' },
    },
  ])('$name', ({ event, line }) => {
    expect(JSON.parse(eventLine(event))).toEqual(line);
  });

  it('is one line of JSON that begins with the time, whatever happened', () => {
    fc.assert(
      fc.property(eventsArbitrary, (rows) => {
        for (const { event } of rows) {
          const line = eventLine(event);
          expect(line).not.toMatch(/[\n\r]/);
          expect(line.startsWith('{"time":"')).toBe(true);
          expect(JSON.parse(line)).toMatchObject({ event: event.type, seq: event.seq });
        }
      }),
    );
  });

  it('says where the run stands, and in which span, when it is told', () => {
    const event: AgentEvent = { ...base, type: 'agent:iteration:before' };
    const place = { workflowId: 'a-1', link: 3, rootRunId: 'r' } as EventPlace;
    const written = JSON.parse(eventLine(event, place, true)) as object;
    expect(written).toEqual({
      ...shown,
      event: 'agent:iteration:before',
      workflowId: 'a-1',
      link: 3,
      trace_id: treeTraceId({ rootRunId: 'r' }),
      span_id: spanIdOf('r', 'turn 2'),
    });
    expect(eventLine(event, place)).not.toContain('trace_id');
  });
});
