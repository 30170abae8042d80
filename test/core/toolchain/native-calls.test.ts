import { describe, expect, test } from 'vitest';
import { batchNotRunText, readNativeCalls } from '../../../src/core/toolchain/native-calls.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const context = {
  iteration: 2,
  tools: [toolSpec({ name: 'search' }), toolSpec({ name: 'look-up' })],
  maxCallsPerTurn: 3,
};

describe('Native calls [row 18]', () => {
  test('are read with their names, arguments and ids', () => {
    const reading = readNativeCalls(
      [
        {
          type: 'call',
          id: 'toolu_1',
          tool: 'search',
          args: { query: 'x' },
          providerData: { signature: 's' },
        },
        { type: 'call', id: 'toolu_1', tool: 'look_up', args: '{"query": "y"}' },
        { type: 'call', tool: 'fly', args: '' },
      ],
      context,
    );

    expect(reading).toEqual({
      kind: 'calls',
      calls: [
        { callId: '2.1', tool: 'search', args: { query: 'x' } },
        { callId: '2.2', tool: 'look-up', args: { query: 'y' } },
        { callId: '2.3', tool: 'fly', args: {} },
      ],
      parts: [
        {
          type: 'tool_call',
          callId: '2.1',
          tool: 'search',
          args: { query: 'x' },
          providerData: { id: 'toolu_1', data: { signature: 's' } },
        },
        { type: 'tool_call', callId: '2.2', tool: 'look-up', args: { query: 'y' } },
        { type: 'tool_call', callId: '2.3', tool: 'fly', args: {} },
      ],
    });
  });

  test('one malformed call: every call is answered', () => {
    const reading = readNativeCalls(
      [
        { type: 'call', id: 'a', tool: 'search', args: { query: 'x' } },
        { type: 'call', id: 'b', tool: 'search', args: '{"query": ' },
        { type: 'call', id: 'c', tool: 'search', args: [1] },
      ],
      context,
    );

    const unreadable = 'call 2 (search): line 1, column 11: expected a value, got end of text';
    const shape = 'call 3 (search): "args" must be a mapping, got array';
    expect(reading).toEqual({
      kind: 'problems',
      problems: [
        { code: 'json_syntax', message: unreadable, line: 1, column: 11 },
        { code: 'call_args_shape', message: shape },
      ],
      parts: [
        {
          type: 'tool_call',
          callId: '2.1',
          tool: 'search',
          args: { query: 'x' },
          providerData: { id: 'a' },
        },
        {
          type: 'tool_call',
          callId: '2.2',
          tool: 'search',
          args: { rawInvalidInput: '{"query": ' },
          providerData: { id: 'b' },
        },
        {
          type: 'tool_call',
          callId: '2.3',
          tool: 'search',
          args: { rawInvalidInput: '[1]' },
          providerData: { id: 'c' },
        },
      ],
      answers: [batchNotRunText, `Error: ${unreadable}`, `Error: ${shape}`],
      isUnreadable: true,
    });
    expect(batchNotRunText).toBe(
      'Error: not run, because another call in this reply could not be read.',
    );
  });

  test.each([
    {
      title: 'no name',
      calls: [{ type: 'call' as const, tool: ' ', args: {} }],
      answers: ['Error: call 1: the field "tool" is missing'],
    },
    {
      title: 'too many calls',
      calls: Array.from({ length: 4 }, () => ({ type: 'call' as const, tool: 'search', args: {} })),
      answers: Array.from(
        { length: 4 },
        () => 'Error: 4 calls in one step, at most 3 are allowed.',
      ),
    },
  ])('$title', ({ calls, answers }) => {
    expect(readNativeCalls(calls, context)).toMatchObject({ kind: 'problems', answers });
  });
});
