/** The examples of docs/piping.md: its code blocks are the regions of this file. */
import { defineAgent, unwrap } from '../../src/index.ts';
import type { AgentDefinition, AgentModel, Everloop, Json } from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';

/** Finds out what a mail is about, and says what its fields mean. */
export function readerWith(model: AgentModel): AgentDefinition {
  // #region reader
  const reader = defineAgent({
    name: 'reader',
    mode: 'json',
    model,
    signature: '(mail :string) -> {topic :string, tone :keyword, orders [:int]}',
    fieldDescriptions: { tone: 'how the customer feels' },
    prompt: 'What is this mail about?\n{{mail}}',
  });
  // #endregion
  return reader;
}

/** Answers the mail that the reader analysed. */
export function clerkWith(model: AgentModel): AgentDefinition {
  // #region clerk
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'text',
    model,
    prompt: 'Write to a customer about {{topic}}.{{#orders}} Name order {{.}}.{{/orders}} {{task}}',
  });
  // #endregion
  return clerk;
}

/** Takes exactly the input of its signature, or does not begin. */
export function judgeWith(model: AgentModel): AgentDefinition {
  // #region judge
  const judge = defineAgent({
    name: 'judge',
    mode: 'json',
    model,
    signature: '(input :string) -> {polite :bool, why :string?}',
    prompt: 'Is this letter polite?\n{{input}}',
  });
  // #endregion
  return judge;
}

/** Three runs, each with the previous Step as its context. */
export async function answerMail(everloop: Pick<Everloop, 'start'>, mail: string): Promise<Json> {
  // #region pipe
  const read = await everloop.start('reader', { context: { mail } });
  const written = await everloop.start('clerk', {
    task: 'Be brief.',
    context: await read.result(),
  });
  const judged = await everloop.start('judge', { context: await written.result() });

  const verdict = unwrap(await judged.result());
  // #endregion
  return verdict;
}

/** The agents with scripted models, for `everloop run`. */
export const agents: readonly AgentDefinition[] = [
  readerWith(
    exampleModel([{ content: '{"topic": "a late parcel", "tone": "annoyed", "orders": [7]}' }]),
  ),
  clerkWith(exampleModel([{ content: 'We are sorry: order 7 arrives tomorrow.' }])),
  judgeWith(exampleModel([{ content: '{"polite": true}' }])),
];
