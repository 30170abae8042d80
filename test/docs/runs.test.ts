/** docs/runs.md: its code is that of an example which runs here. */
import { expect, test } from 'vitest';
import { watchRun } from '../../examples/docs/runs.ts';
import { textOf } from '../../src/core/base/message.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';

test('docs/runs.md quotes its example', () => {
  expect(blocksOf('runs')).toEqual(regionsOf('runs'));
});

test('a run is looked at and steered by its id alone', async () => {
  const script = scriptedModel([
    () => new Promise((resolve) => setImmediate(resolve, 'A first draft with prices.')),
    'A draft without prices.',
  ]);
  const agent = defineAgent({ name: 'clerk', mode: 'chat', model: script.model });
  const everloop = memoryEverloop([agent]);
  const lines: string[] = [];
  await everloop.start('clerk', { id: 'order-7', task: 'Write an offer.' });

  const step = await watchRun(everloop, 'order-7', (line) => lines.push(line));

  expect(step.value).toBe('A draft without prices.');
  expect(lines).toEqual(['running, turn 1: ']);
  const read = script.requests[1]?.messages.map(textOf).join('\n');
  expect(read).toContain('Leave the prices out.');
});
