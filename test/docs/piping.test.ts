/** docs/piping.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { answerMail, clerkWith, judgeWith, readerWith } from '../../examples/docs/piping.ts';
import type { AgentDefinition, Everloop } from '../../src/index.ts';
import { textOf } from '../../src/core/base/message.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun, starting } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/piping.md quotes its example', () => {
  expect(blocksOf('piping').size).toBeGreaterThan(0);
  expect(blocksOf('piping')).toEqual(regionsOf('piping'));
});

/** The part of a client that starts `agents` in this process. */
function inMemory(agents: readonly AgentDefinition[]): Pick<Everloop, 'start'> {
  return {
    start: starting(async (name, { task, context }) => {
      const agent = agents.find((it) => it.name === name);
      if (agent === undefined) throw new Error(`Expected a known agent, got ${String(name)}.`);
      const run = startInMemory({
        agent,
        ...(task === undefined ? {} : { task }),
        ...(context === undefined ? {} : { context }),
      });
      return fakeRun('r', { result: () => run.result });
    }),
  };
}

function agentsWith(replies: readonly string[]): {
  readonly script: ScriptedModel;
  readonly everloop: Pick<Everloop, 'start'>;
} {
  const script = scriptedModel(replies);
  const agents = [readerWith, clerkWith, judgeWith].map((make) => make(script.model));
  return { script, everloop: inMemory(agents) };
}

const found = '{"topic": "a late parcel", "tone": "angry", "orders": [7, 9]}';

test('three stages', async () => {
  const { script, everloop } = agentsWith([found, 'We are sorry.', '{"polite": true}']);

  const verdict = await answerMail(everloop, 'Where are 7 and 9?');

  expect(verdict).toEqual({ polite: true });
  script.assertDone();
  expect(script.requests.slice(1).map(({ messages }) => messages.map(textOf).at(-1))).toEqual([
    'Write to a customer about a late parcel. Name order 7. Name order 9. Be brief.\n' +
      '# Context\n<data name="tone" about="how the customer feels">angry</data>',
    expect.stringContaining('# Task\nIs this letter polite?\nWe are sorry.\n'),
  ]);
});

test('a stage without success: nothing behind it is asked', async () => {
  const { script, everloop } = agentsWith(Array.from({ length: 5 }, () => 'no idea'));

  await expect(answerMail(everloop, 'Where are 7 and 9?')).rejects.toThrow(
    'upstream `clerk` ended with chained_failure: upstream `reader` ended with json_parse_error',
  );
  script.assertDone();
});
