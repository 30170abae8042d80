import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/core/base/message.ts';
import {
  abortOf,
  act,
  answer,
  bodiesOf,
  searchTool,
  startRun,
  typesOf,
  type RunOptions,
} from '../../support/runs.ts';

/** Iteration, origin and text of each entry of the history. */
function told(
  run: ReturnType<typeof startRun>['run'],
): readonly (readonly [number, string, string])[] {
  return run.entries.map(({ iteration, origin, messages }) => [
    iteration,
    origin,
    messages
      .flatMap(({ parts }) =>
        parts.map((part) =>
          part.type === 'sections'
            ? JSON.stringify(part.sections)
            : textOf({ role: 'user', parts: [part] }),
        ),
      )
      .join('|'),
  ]);
}

function message(text: string): string {
  return JSON.stringify([{ name: 'message', content: text }]);
}

describe('inputs', () => {
  it('[row 8] are taken in with steering ones first, each group in order of arrival', async () => {
    const { run, script } = startRun([answer()]);
    const sent = (['queue', 'steer', 'interrupt', 'queue'] as const).map((kind, index) =>
      run.send(`${index + 1}`, { kind, id: `${kind}-${index + 1}` }),
    );

    await run.result;

    script.assertDone();
    expect(sent).toEqual([1, 2, 3, 4]);
    expect(bodiesOf(run.events, 'agent:input')).toEqual([
      { type: 'agent:input', inputId: 'steer-2', kind: 'steer', position: 2 },
      { type: 'agent:input', inputId: 'interrupt-3', kind: 'interrupt', position: 3 },
      { type: 'agent:input', inputId: 'queue-1', kind: 'queue', position: 1 },
      { type: 'agent:input', inputId: 'queue-4', kind: 'queue', position: 4 },
    ]);
    expect(told(run).slice(0, 4)).toEqual(
      ['2', '3', '1', '4'].map((text) => [0, 'input', message(text)]),
    );
    expect(script.requests[0]?.messages.map(textOf).join()).toContain('<message>\n2\n</message>');
  });

  it('[row 8] with a known id are ignored and get their first position, also when taken in', async () => {
    const positions: number[] = [];
    const { run } = startRun([act('a'), answer()], {
      onEvent: ({ type }, live) => {
        if (type === 'agent:tool_call:after') positions.push(live.send('again', { id: 'one' }));
      },
    });

    positions.push(run.send('once', { id: 'one' }), run.send('once more', { id: 'one' }));
    await run.result;

    expect(positions).toEqual([1, 1, 1]);
    expect(bodiesOf(run.events, 'agent:input')).toEqual([
      { type: 'agent:input', inputId: 'one', kind: 'queue', position: 1 },
    ]);
  });

  it('[row 8] that interrupt a model call drop its text, count its usage and go on', async () => {
    const { run, script } = startRun([
      async (_request, { signal }) => {
        run.send('look here', { kind: 'interrupt', id: 'now' });
        await abortOf(signal);
        return { content: answer('stale'), usage: { inputTokens: 5, outputTokens: 1 } };
      },
      answer('fresh'),
    ]);

    const step = await run.result;

    script.assertDone();
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'iteration:after',
      'input',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(bodiesOf(run.events, 'agent:iteration:after').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'end',
    ]);
    expect([step.value, step.usage.inputTokens, step.iterations]).toEqual(['fresh', 105, 2]);
    expect(told(run)).toEqual([
      [1, 'input', message('look here')],
      [2, 'original', answer('fresh')],
    ]);
  });

  it('[row 8] that interrupt calls cancel them, and the transcript says so', async () => {
    const tool = searchTool(async (query, { signal }) => {
      if (query === 'a') return 'hits for a';
      run.send('stop that', { kind: 'interrupt', id: 'now' });
      await abortOf(signal);
      throw new Error('aborted');
    });
    const { run, script } = startRun([act('a', 'b'), answer()], { agent: { tools: [tool] } });

    const step = await run.result;

    script.assertDone();
    expect(step.status).toBe('success');
    expect(
      bodiesOf(run.events, 'agent:tool_call:after').map(({ callId, outcome }) => [callId, outcome]),
    ).toEqual([
      ['1.1', 'ok'],
      ['1.2', 'canceled'],
    ]);
    expect(bodiesOf(run.events, 'agent:iteration:after')[0]?.outcome).toBe('interrupted');
    expect(told(run)[0]?.[2]).toContain('Error: canceled before it finished.');
    expect(told(run)[1]).toEqual([1, 'input', message('stop that')]);
  });

  it('[row 8] that steer or queue leave what is in flight alone', async () => {
    const tool = searchTool(async (_query, { signal }) => {
      run.send('later', { kind: 'queue' });
      run.send('sooner', { kind: 'steer' });
      return signal.aborted ? 'aborted' : 'found';
    });
    const { run } = startRun([act('a'), answer()], { agent: { tools: [tool] } });

    await run.result;

    expect(bodiesOf(run.events, 'agent:tool_call:after')[0]?.output).toBe('found');
    expect(told(run).map(([iteration, origin]) => [iteration, origin])).toEqual([
      [1, 'original'],
      [1, 'input'],
      [1, 'input'],
      [2, 'original'],
    ]);
  });

  it('[row 8] that wait while an answer is accepted keep the run going', async () => {
    const { run, script } = startRun([answer('first'), answer('second')], {
      onEvent: ({ type, iteration }, live) => {
        if (type === 'agent:answer:judged' && iteration === 1) live.send('one more thing');
      },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'second', 2]);
    expect(bodiesOf(run.events, 'agent:iteration:after').map(({ outcome }) => outcome)).toEqual([
      'continue',
      'end',
    ]);
    expect(told(run)).toEqual([
      [1, 'original', answer('first')],
      [1, 'input', message('one more thing')],
      [2, 'original', answer('second')],
    ]);
    expect(run.state.scratchpad.map(({ index }) => index)).toEqual([0, 1]);
  });

  it.each<{ name: string; replies: readonly string[]; options: RunOptions; status: string }>([
    {
      name: 'behind the last answer that fits',
      replies: [answer()],
      options: { limits: { iterations: 1 } },
      status: 'success',
    },
    {
      name: 'behind an answer that reached a limit',
      replies: [answer()],
      options: { limits: { totalTokens: 10 } },
      status: 'success',
    },
    {
      name: 'behind a limit',
      replies: [act('a')],
      options: { limits: { totalTokens: 10 } },
      status: 'limit_exceeded',
    },
  ])('[row 8] $name are unread, and the Step lists them', async ({ replies, options, status }) => {
    const { run } = startRun(replies, {
      ...options,
      onEvent: ({ type }, live) => {
        if (type === 'agent:turn:read') live.send('hello?', { id: 'late' });
      },
    });

    const step = await run.result;

    expect([step.status, step.trace.unreadInputs]).toEqual([status, ['late']]);
    expect(bodiesOf(run.events, 'agent:input')).toEqual([]);
  });

  it('[row 3] keep no answer from winning over a limit on the scratchpad', async () => {
    const key = 'agent:scratchpad_length';
    const { run } = startRun([answer()], {
      limits: { custom: [{ kind: 'exact', key, max: 0 }] },
      onEvent: ({ type }, live) => {
        if (type === 'agent:answer:judged') live.send('late', { id: 'late' });
      },
    });

    const step = await run.result;

    expect([step.status, step.value, step.exceededLimit?.key]).toEqual(['success', 'done', key]);
    expect(step.trace.unreadInputs).toEqual(['late']);
  });
});
