/** Large results of calls: what a full disk does not take, and what a run keeps when it moves. */
import { DeterminismViolationError } from '@temporalio/workflow';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { directoryBlobs, disk } from '../../src/protection/blobs/directory-blobs.ts';
import { protectionOf, type Protection } from '../../src/protection/protection.ts';
import { eventually } from '../support/eventually.ts';
import { extentOf } from '../support/extent.ts';
import { pageReader } from '../support/page-reader.ts';
import { actWith, answer, bodiesOf, gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let protection: Protection;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  protection = protectionOf({ blobs: directoryBlobs(join(stage.folder, 'blobs')) });
});
afterAll(() => stage?.close());
afterEach(() => {
  vi.restoreAllMocks();
});

describe('results that a full disk does not take', () => {
  it('are repeated, or unknown if their tool runs once, and small ones are kept', async () => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { open } = disk;
    let failures = 0;
    vi.spyOn(disk, 'open').mockImplementation((...given) => {
      if (failures === 0 || given[1] !== 'wx') return open(...given);
      failures -= 1;
      return Promise.reject(new Error('ENOSPC: no space left on device'));
    });
    const began: string[] = [];
    const tool = (
      name: string,
      effect: 'read' | 'once',
      bytes: number,
    ): ReturnType<typeof defineTool> =>
      defineTool({
        name,
        description: 'Gives text.',
        effect,
        maxResultBytes: 4_000_000,
        execute: () => {
          began.push(name);
          // There is space for the second attempt of the first tool.
          failures = began.length === 2 ? 0 : 1;
          return name[0]!.repeat(bytes);
        },
      });
    const { everloop } = await stage.serve(
      [
        defineAgent({
          name: 'writer',
          mode: 'react',
          model: {
            id: 'm',
            model: async ({ iteration }) => {
              const name = ['again', 'once', 'small'][iteration - 1];
              return name === undefined ? answer('done') : actWith([name, 'x']);
            },
          },
          tools: [
            tool('again', 'read', 300_000),
            tool('once', 'once', 300_000),
            tool('small', 'once', 5_000),
          ],
          limits: 'unlimited',
        }),
      ],
      { protection: protectionOf({ blobs: directoryBlobs(join(stage.folder, 'full')) }) },
    );
    const run = await everloop.start('writer', { task: 'Write' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(began).toEqual(['again', 'again', 'once', 'small']);
    const ends = bodiesOf(await run.events(), 'agent:tool_call:after');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['ok', 'unknown', 'ok']);
  });
});

describe('a run that moves', () => {
  it('makes the same commands with a store and without', async () => {
    const page = (): string => 'y'.repeat(2_500_000);
    const plain = await stage.serve([pageReader({ iterations: 2, page })]);
    const cut = await plain.everloop.start('reader', { task: 'Read' });
    expect(await cut.result()).toMatchObject({ status: 'success' });
    await stage.replay(cut, { protection });

    const rich = await stage.serve([pageReader({ iterations: 1, page })], { protection });
    const small = await rich.everloop.start('reader', { task: 'Read' });
    expect(await small.result()).toMatchObject({ status: 'success' });
    await stage.replay(small);
  });

  it.each(
    extentOf([
      ['without a store', false],
      ['with a store', true],
    ]),
  )('keeps the sizes of its start when a worker %s goes', async (_name, hasStore) => {
    const mayGoOn = gate();
    const began: string[] = [];
    // One result before the move and one after it. Only a run with a store may keep them whole.
    const agentOf = (worker: string): AgentDefinition =>
      pageReader({
        iterations: 3,
        before: async (iteration) => {
          began.push(`${worker} ${iteration}`);
          if (iteration === 2) await mayGoOn.opened;
        },
        page: () => 'w'.repeat(500_000),
      });
    const taskQueue = `moves-${hasStore}-${Date.now()}`;
    const first = await stage.serve([agentOf('first')], {
      taskQueue,
      ...(hasStore ? { protection } : {}),
    });
    const { id } = await first.everloop.start('reader', { task: 'Read' });
    await eventually('the second call', () => began.includes('first 2'));
    const stopped = first.stop();
    await stage.serve([agentOf('second')], { taskQueue, protection });
    mayGoOn.open();
    await stopped;
    const run = stage.everloopOf(taskQueue, undefined, protection).attach(id);

    expect(await run.result()).toMatchObject({ status: 'success' });
    expect(began.at(-1)).toBe('second 3');
    const transcript = JSON.stringify(await run.transcript());
    const whole = (transcript.match(/w{1000,}/g) ?? []).filter(({ length }) => length === 500_000);
    expect(whole).toHaveLength(hasStore ? 2 : 0);
    expect(transcript.length > 1_000_000).toBe(hasStore);
    await stage.replay(run, { protection });
    // Without the store it waits, and decides nothing else.
    await expect(stage.replay(run)).rejects.not.toBeInstanceOf(DeterminismViolationError);
  });
});
