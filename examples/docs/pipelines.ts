/** The examples of docs/pipelines.md; test/docs/pipelines.test.ts runs them. */
import {
  agentTool,
  defineAgent,
  humanStep,
  pipeline,
  type AgentDefinition,
  type AgentModel,
  type Everloop,
  type Step,
} from '../../src/index.ts';

/** Classifies a review and answers it. */
export function deskWith(classify: AgentModel, write: AgentModel): AgentDefinition {
  // #region line
  const triage = defineAgent({
    name: 'triage',
    mode: 'json',
    model: classify,
    signature: '(review :string) -> {sentiment :keyword, topic :string}',
    prompt: 'What does this review feel, and what is it about? {{review}}',
  });
  const reply = defineAgent({
    name: 'reply',
    mode: 'text',
    model: write,
    prompt: 'Answer a customer who is {{sentiment}} about {{topic}}, in two sentences.',
  });
  const desk = pipeline('desk', [triage, reply]);
  // #endregion
  return desk;
}

/** Starts it like any agent. */
export async function startDesk(everloop: Everloop): Promise<Step> {
  // #region start
  const run = await everloop.start('desk', { context: { review: 'Lovely bread, cold coffee.' } });
  const step = await run.result();
  // #endregion
  return step;
}

/** Three views of one draft at the same time, then a person, then the printer. */
export function pressWith(model: AgentModel): AgentDefinition {
  const plain = (name: string, prompt: string): AgentDefinition =>
    defineAgent({ name, mode: 'text', model, prompt });
  const [writer, facts, style, printer] = [
    plain('writer', 'Write about {{task}}.'),
    plain('facts', 'Check the facts: {{draft}}'),
    plain('style', 'Check the style: {{draft}}'),
    plain('printer', 'Print with these remarks: {{facts}} {{style}} ({{answer}})'),
  ];
  // #region stages
  const press = pipeline(
    'press',
    [
      writer,
      [facts, style],
      humanStep({
        question: 'Print "{{task}}"?\nFacts: {{facts}}\nStyle: {{style}}',
        options: ['yes', 'no'],
        timeoutMs: 24 * 60 * 60 * 1_000,
      }),
      printer,
    ],
    { map: { input: 'draft' }, limits: { costUsd: 0.5, wallClockMs: 7 * 24 * 60 * 60 * 1_000 } },
  );
  // #endregion
  return press;
}

/** A pipeline in a pipeline, and one as a tool. */
export function nestedWith(model: AgentModel, desk: AgentDefinition): AgentDefinition {
  // #region nested
  const archive = defineAgent({
    name: 'archive',
    mode: 'text',
    model,
    prompt: 'File it: {{input}}',
  });
  const office = pipeline('office', [desk, archive], {
    description: 'Answers a review and files it.',
  });
  const boss = defineAgent({ name: 'boss', model, tools: [agentTool({ agent: office })] });
  // #endregion
  return boss;
}
