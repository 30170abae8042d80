/** Each limit of a size at its bound and one more, in a run without a blob store and with one. */
import { describe, expect, it } from 'vitest';
import { byteSize, type Json } from '../../src/core/base/json.ts';
import { BLOB_SIZES, INLINE_SIZES, sizesOf } from '../../src/core/base/size-limits.ts';
import type { WaitingItem } from '../../src/core/contract/pending.ts';
import { checkAnswer } from '../../src/core/people/check-answer.ts';
import { pageOf } from '../../src/core/contract/page.ts';
import { EMPTY_INBOX } from '../../src/core/run/inbox.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import { childRefusal } from '../../src/core/start/child-bounds.ts';
import { startInput } from '../../src/core/start/start-input.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { toolResult } from '../../src/define/tool/tool-result.ts';
import { loadAgent } from '../../src/registry/load-agent.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { fitsHandover } from '../../src/workflows/start.ts';
import { actWith, answer, bodiesOf } from '../support/runs.ts';

describe.each([
  { name: 'without a blob store', blobs: false, sizes: INLINE_SIZES },
  { name: 'with a blob store', blobs: true, sizes: BLOB_SIZES },
])('a run $name', ({ blobs, sizes }) => {
  it('has the limits that its start recorded', () => {
    expect(sizesOf({ blobs })).toBe(sizes);
    expect(sizesOf({})).toBe(INLINE_SIZES);
  });

  it('starts with so much and no more, also as a child', () => {
    const base = byteSize(startInput('a', { task: 'x' }) as unknown as Json) - 1;
    const start = (bytes: number) => startInput('a', { task: 'x'.repeat(bytes - base) }, sizes);
    for (const bytes of [sizes.start - 1, sizes.start]) {
      const input = start(bytes);
      expect(byteSize(input as unknown as Json)).toBe(bytes);
      expect(childRefusal({ childId: 'a/1', callId: '1', input }, sizes)).toBeNull();
    }
    expect(() => start(sizes.start + 1)).toThrow(
      `Expected a start of at most ${sizes.start} bytes, got ${sizes.start + 1}. Put large data behind a tool.`,
    );
    const input = startInput(
      'a',
      { task: 'x'.repeat(sizes.start + 1 - base) },
      {
        ...sizes,
        start: Infinity,
      },
    );
    expect(childRefusal({ childId: 'a/1', callId: '1', input }, sizes)).toBe(
      `its input has ${sizes.start + 1} bytes, at most ${sizes.start} are allowed`,
    );
  });

  it('has a specification of so many bytes and no more', () => {
    const load = (instructions: string) => {
      const agent = defineAgent({
        name: 'a',
        mode: 'react',
        model: scriptedModel([]).model,
        instructions,
      });
      const registry = createRegistry({ agents: [agent] });
      return loadAgent(registry, { v: 1, agent: 'a', task: { text: 'x' } }, sizes);
    };
    const small = load('x');
    if (small.kind !== 'loaded') throw new Error('Expected an agent.');
    const base = byteSize(small.agent.spec as unknown as Json) - 1;
    expect(load('x'.repeat(sizes.spec - 1 - base)).kind).toBe('loaded');
    expect(load('x'.repeat(sizes.spec - base)).kind).toBe('loaded');
    expect(load('x'.repeat(sizes.spec + 1 - base))).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(
        `at most ${sizes.spec} bytes, got ${sizes.spec + 1}.`,
      ) as unknown,
    });
  });

  it('hands over so much and no more', () => {
    const state = (text: string) => ({ text }) as unknown as RunState;
    const base = byteSize({ state: state(''), inbox: EMPTY_INBOX } as unknown as Json) + 16_384;
    const fits = (bytes: number): boolean =>
      fitsHandover(state('x'.repeat(bytes - base)), EMPTY_INBOX, sizes.handover);
    expect(fits(sizes.handover - 1)).toBe(true);
    expect(fits(sizes.handover)).toBe(true);
    expect(fits(sizes.handover + 1)).toBe(false);
  });

  it('takes answers of so many bytes and no more', () => {
    const item: WaitingItem = {
      kind: 'external',
      id: '1.1',
      callId: '1.1',
      since: 0,
      tool: 'work',
      args: {},
      begun: { outcome: 'ok', attempts: 1, started: true },
    };
    const check = (bytes: number) =>
      checkAnswer({ pending: [item], maxBytes: sizes.result }, '1.1', 'x'.repeat(bytes - 2));
    expect(check(sizes.result - 1).kind).toBe('fits');
    expect(check(sizes.result).kind).toBe('fits');
    expect(check(sizes.result + 1)).toEqual({
      kind: 'refused',
      code: 'invalid_input',
      message: `the answer has ${sizes.result + 1} bytes, at most ${sizes.result} are allowed`,
    });
  });

  it('keeps results of so many bytes, cuts longer ones, and says what of media is too large', async () => {
    const sent = [sizes.result - 1, sizes.result, sizes.result + 1];
    const media = [sizes.media - 1, sizes.media, sizes.media + 1];
    const give = defineTool({
      name: 'give',
      description: 'Gives text.',
      maxResultBytes: 4_194_304,
      execute: () => 'x'.repeat(sent.shift() ?? 0),
    });
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      execute: () =>
        toolResult({
          output: 'drawn',
          media: [{ type: 'media', mediaType: 'image/png', data: 'A'.repeat(media.shift() ?? 0) }],
        }),
    });
    const { model } = scriptedModel([
      actWith(
        ['give', 'x'],
        ['give', 'x'],
        ['give', 'x'],
        ['draw', 'x'],
        ['draw', 'x'],
        ['draw', 'x'],
      ),
      answer(),
    ]);
    const run = startInMemory({
      agent: defineAgent({
        name: 'a',
        mode: 'react',
        model,
        parallel: false,
        tools: [give, draw],
        limits: 'unlimited',
        compaction: false,
      }),
      task: 'x',
      blobs,
    });
    await run.result;

    const ends = bodiesOf(run.events, 'agent:tool_call:after');
    expect(ends.map(({ cut, error }) => cut ?? error ?? 'whole')).toEqual([
      'whole',
      'whole',
      { shown: sizes.result, total: sizes.result + 1 },
      'whole',
      'whole',
      `Error: Expected \`media\` of at most ${sizes.media} bytes of base64, got ${sizes.media + 1}. Return a url, or a smaller picture.`,
    ]);
  });

  it('answers with so much and no more', async () => {
    const run = async (text: string) =>
      startInMemory({
        agent: defineAgent({ name: 'a', mode: 'text', model: scriptedModel([text]).model }),
        task: 'x',
        blobs,
      }).result;
    // With a blob store, a reply may have no more bytes than a Step: this one is no longer.
    const long = sizes.step - 512;
    const over = await run('x'.repeat(long));
    const got = /got (\d+)/.exec(over.message ?? '')?.[1] ?? '';
    const around = Number(got) - long;
    expect(around).toBeGreaterThan(512);
    const largest = sizes.step - around;
    for (const bytes of [largest - 1, largest]) {
      expect((await run('x'.repeat(bytes))).status).toBe('success');
    }
    expect(await run('x'.repeat(largest + 1))).toMatchObject({
      reason: 'value_too_large',
      message: expect.stringContaining(
        `at most ${sizes.step} bytes, got ${sizes.step + 1}`,
      ) as unknown,
    });
  });

  it('answers queries by pages that never lie in a store', () => {
    const page = (bytes: number) =>
      pageOf(['x'.repeat(bytes - 2), 'y'], { index: 0, offset: 0 }, undefined, sizes.page);
    expect(page(sizes.page - 1).items).toHaveLength(1);
    expect(page(sizes.page).items).toHaveLength(1);
    expect(page(sizes.page + 1).items).toHaveLength(0);
    expect(sizes.page).toBeLessThan(sizes.stored ?? Infinity);
  });
});

it('with a blob store, the whole of what it may hold fits into one blob', () => {
  const largest = Math.max(...Object.values(BLOB_SIZES));
  expect(largest).toBeLessThan(33_554_432 - 1_000_000);
});
