/** Options that nobody has are refused wherever runs begin: an ignored one may be a budget. */
import type { Client } from '@temporalio/client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEverloop, type Everloop } from '../../src/client/everloop-client.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { optionAdvice, unknownOptions } from '../../src/core/text/option-names.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { createChatHandler } from '../../src/ui/chat-handler.ts';

/** A client whose service must not be reached. */
function unreached(): Everloop {
  const client = new Proxy({} as Client, {
    get: (_client, name) => {
      if (name === 'options') return { loadedDataConverter: {} };
      if (name === 'workflow') return { getHandle: () => ({}) };
      throw new Error(`Expected no use of the service, got ${String(name)}.`);
    },
  });
  return createEverloop({ client });
}

const clerk = defineAgent({ name: 'clerk', model: async () => 'x' });

type Doing = (everloop: Everloop, options: object) => unknown;

const PLACES: readonly (readonly [string, Doing])[] = [
  ['start', (everloop, options) => everloop.start('clerk', { task: 'x', ...options })],
  ['start of a definition', (everloop, options) => everloop.start(clerk, options)],
  ['compileAgent', (everloop, options) => everloop.compileAgent('clerk', options)],
  ['fork', (everloop, options) => everloop.fork({ run: 'r' }, options)],
  ['the source of a fork', (everloop, options) => everloop.fork({ run: 'r', ...options })],
  ['evaluate', (everloop, options) => everloop.evaluate({ variants: [] }, options)],
  [
    'a schedule',
    (everloop, options) =>
      everloop.schedules.create('s', { agent: 'clerk', cron: '0 6 * * *', ...options }),
  ],
  ['a conversation', (everloop, options) => everloop.conversation('clerk', options)],
  ['say', (everloop, options) => everloop.conversation('clerk').say('x', options)],
  ['startInMemory', (_everloop, options) => startInMemory({ agent: clerk, task: 'x', ...options })],
  [
    'a chat handler',
    (everloop, options) => createChatHandler({ everloop, agent: 'clerk', ...options }),
  ],
];

describe('an unknown option', () => {
  test.each(PLACES)('of %s is refused, and nothing is sent', async (_name, act) => {
    const doing = async (options: object): Promise<unknown> => act(unreached(), options);

    await expect(doing({ limit: { costUsd: 1 } })).rejects.toMatchObject({
      code: 'unknown_option',
    });
    await expect(doing({ temperature: 0 })).rejects.toMatchObject({
      code: 'unknown_option',
      message: expect.stringContaining(
        'got `temperature`. It is in `settings` of `defineAgent`, `start`, `say` and of model entries.',
      ),
    });
  });

  test('is refused with the name that was meant', async () => {
    const start = unreached().start('clerk', { task: 'x', limit: { costUsd: 1 } } as never);

    await expect(start).rejects.toThrow(
      'Expected an option of `start`, got `limit`. Did you mean `limits`?',
    );
  });

  test.each([
    ['inputSchema', () => defineTool({ inputSchema: {} } as never), 'parameters'],
    ['needsApproval', () => defineTool({ needsApproval: true } as never), 'approval'],
    ['system', () => defineAgent({ system: 'x' } as never), 'instructions'],
    ['maxSteps', () => defineAgent({ maxSteps: 3 } as never), 'maxTurns'],
    ['stopWhen', () => defineAgent({ stopWhen: [] } as never), 'maxTurns'],
    ['guardrails', () => defineAgent({ guardrails: [] } as never), 'validators'],
    ['responseFormat', () => defineAgent({ responseFormat: {} } as never), 'signature'],
  ])('%s of another library is told by our name', (theirs, define, ours) => {
    expect(define).toThrow(`\`${theirs}\` is called \`${ours}\`.`);
  });

  test('is told for every name, at every place, in one sentence that ends', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (name, known) => {
        const problems = unknownOptions({ [name]: 1 }, known, 'x');
        expect(problems.length).toBe(known.includes(name) ? 0 : 1);
        expect(optionAdvice(name, known)).toMatch(/[.?]$/);
      }),
    );
  });
});
