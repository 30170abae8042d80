/** Functions of an agent and of a model entry that never answer. */
import { expect, test } from 'vitest';
import { defineAgent, defineTool, type AgentOptions, type ModelEntry } from '../../src/index.ts';
import { createFakeClock, scriptedModel, startInMemory } from '../../src/testing.ts';
import { withoutWaits } from '../support/no-waits.ts';
import { START } from '../support/runs.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  enabled: never,
  execute: () => 'seen',
});

const CASES: readonly {
  readonly name: string;
  readonly said: string;
  readonly agent?: Partial<AgentOptions>;
  readonly entry?: Partial<ModelEntry>;
}[] = [
  { name: 'prepare', said: '`prepare` of clerk', agent: { prepare: never } },
  { name: 'enabled', said: '`enabled` of tool look', agent: { tools: [look] } },
  { name: 'instructions', said: '`instructions` of clerk', agent: { instructions: never } },
  { name: 'rules', said: '`rules` of clerk', agent: { rules: never } },
  { name: 'prompt', said: '`prompt` of clerk', agent: { mode: 'react', prompt: never } },
  { name: 'modelFor', said: '`modelFor` of model main', entry: { modelFor: never } },
];

test.each(CASES)(
  'a function that hangs fails its attempt: $name',
  async ({ said, agent, entry }) => {
    const { model } = scriptedModel([]);
    const options: ModelEntry = { id: 'main', model, ...entry };
    const clerk = defineAgent({ name: 'clerk', model: options, ...agent });

    const step = await withoutWaits(
      () => startInMemory({ agent: clerk, task: 'x', clock: createFakeClock(START) }).result,
    );

    expect(step).toMatchObject({ status: 'error', reason: 'model_error' });
    expect(step.message).toContain(`Expected ${said} to end within 30 s`);
  },
);
