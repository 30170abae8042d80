/** docs/pipelines.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { deskWith, nestedWith, pressWith, startDesk } from '../../examples/docs/pipelines.ts';
import type { AgentModel } from '../../src/define/model/model-entry.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { textOf } from '../../src/core/base/message.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

const FEELING = '{"sentiment": "pleased", "topic": "bread"}';

/** A model that says what it was asked. */
const parrot: AgentModel = {
  id: 'parrot',
  price: { input: 0, output: 0 },
  model: ({ messages }) =>
    Promise.resolve(textOf(messages[0] ?? { role: 'user', parts: [] }).split('\n')[0] ?? ''),
};

function desk() {
  return deskWith(scriptedModel([FEELING]).model, parrot);
}

test('docs/pipelines.md quotes its example', () => {
  expect(blocksOf('pipelines').size).toBeGreaterThan(0);
  expect(blocksOf('pipelines')).toEqual(regionsOf('pipelines'));
});

test('two stages, started like any agent', async () => {
  const agent = desk();
  const everloop = {
    start: async (_name: string, { context }: { context: { review: string } }) => {
      const { result } = startInMemory({ agent, context });
      return fakeRun('r', { result: () => result });
    },
  } as unknown as Everloop;

  const step = await startDesk(everloop);

  expect(step.value).toBe('Answer a customer who is pleased about bread, in two sentences.');
});

test('a stage of each kind', async () => {
  const run = startInMemory({ agent: pressWith(parrot), task: 'bread' });
  const waiting = await run.resultOrPending();
  run.answer('q1', 'yes');

  expect(waiting).toMatchObject({
    pending: [
      {
        question:
          'Print "bread"?\nFacts: Check the facts: Write about bread.\nStyle: Check the style: Write about bread.',
      },
    ],
  });
  expect((await run.result).value).toBe(
    'Print with these remarks: Check the facts: Write about bread. Check the style: Write about bread. (yes)',
  );
});

test('a pipeline in a pipeline, as a tool', async () => {
  const calls = { toolCalls: [{ name: 'office', args: { review: 'Lovely bread.' } }] };
  const filed = 'File it: Answered.';
  const { model } = scriptedModel([calls, filed, 'Done.']);
  const agent = nestedWith(
    model,
    deskWith(scriptedModel([FEELING]).model, scriptedModel(['Answered.']).model),
  );
  const run = startInMemory({ agent, task: 'Go' });

  expect((await run.result).value).toBe('Done.');
  expect((await run.children[0]?.result)?.value).toBe(filed);
});
