/**
 * Conversations for random kills: ten messages each, with pictures, approvals, a denial, a word in
 * between, a repetition and two edits. What a turn answers tells what the agent remembers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from '../../src/client/conversation.ts';
import { textOf, type Message, type Task } from '../../src/core/base/message.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import type { Decision } from '../../src/core/contract/pending.ts';
import { conversationWorkflow } from '../../src/core/base/ids.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { effectTools } from './effects.ts';
import { LOOK_EVERY_MS, patiently } from './patiently.ts';
import type { MatrixScenario } from './scenarios.ts';

const NAME = 'talks';
const ORDER = /^(look|put|pay) (\d+)$/;
const PICTURE = {
  type: 'media',
  mediaType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
} as const;

interface Line {
  readonly text: string;
  readonly picture?: true;
  /** What is said while the approval waits. */
  readonly meanwhile?: string;
  readonly denied?: true;
  readonly twice?: true;
  /** The line that it replaces. */
  readonly instead?: number;
  readonly answer: string;
}

/** `{order}: what was said, pictures and results that the model sees`. */
const LINES: readonly Line[] = [
  { text: 'look 1', picture: true, answer: 'look 1: 1 said, 1 seen, 1 done' },
  { text: 'put 2', answer: 'put 2: 2 said, 1 seen, 2 done' },
  { text: 'pay 3', meanwhile: 'Quickly.', answer: 'pay 3: 4 said, 1 seen, 3 done' },
  { text: 'look 4', answer: 'look 4: 5 said, 1 seen, 4 done' },
  { text: 'pay 5', answer: 'pay 5: 6 said, 1 seen, 5 done' },
  { text: 'put 6', instead: 3, answer: 'put 6: 5 said, 1 seen, 4 done' },
  { text: 'look 7', picture: true, answer: 'look 7: 6 said, 2 seen, 5 done' },
  { text: 'pay 8', denied: true, answer: 'pay 8: 7 said, 2 seen, 6 done' },
  { text: 'put 9', twice: true, answer: 'put 9: 8 said, 2 seen, 7 done' },
  { text: 'look 10', instead: 8, answer: 'look 10: 8 said, 2 seen, 7 done' },
];

const model: ModelFunction = async ({ messages }) => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const ordered = messages.findLastIndex((message) => orderIn(message) !== null);
  const order = orderIn(messages[ordered]);
  const isDone = messages.slice(ordered).some(({ role }) => role === 'tool');
  if (order !== null && !isDone) {
    return { toolCalls: [{ name: order[1] ?? '', args: { n: Number(order[2]) } }], usage };
  }
  const said = messages.filter(isSaid).length;
  const seen = messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'media').length;
  const done = messages.filter(({ role }) => role === 'tool').length;
  return { content: `${order?.[0] ?? ''}: ${said} said, ${seen} seen, ${done} done`, usage };
};

function isSaid(message: Message): boolean {
  return message.role === 'user' && (orderIn(message) !== null || /Quickly/.test(textOf(message)));
}

function orderIn(message: Message | undefined): RegExpMatchArray | null {
  return message?.role === 'user' ? textOf(message).trim().match(ORDER) : null;
}

/** A conversation of ten messages. */
export const TALKS_SCENARIO: MatrixScenario = {
  name: NAME,
  workflowOf: conversationWorkflow,
  agents: (folder) => [
    defineAgent({
      name: NAME,
      mode: 'chat',
      model: { id: `${NAME}/model`, model, price: { input: 1, output: 2 } },
      tools: effectTools(folder, { approved: true, toolMs: 100 }),
    }),
  ],
  play: async (everloop, id) => {
    const chat = everloop.conversation(NAME, { id });
    for (const [index, line] of LINES.entries()) await playLine(chat, { id, index, line });
    const turns = await patiently(() => chat.turns());
    if (turns.length !== LINES.length) throw new Error(`${turns.length} turns`);
    await patiently(() => chat.close());
    await patiently(() => chat.run.result());
    return [chat.run];
  },
};

interface Played {
  readonly id: string;
  readonly index: number;
  readonly line: Line;
}

async function playLine(chat: Conversation, { id, index, line }: Played): Promise<void> {
  const { text, answer, instead, picture } = line;
  const said: Task = { text, ...(picture === true ? { media: [PICTURE] } : {}) };
  const idOf = (of: number): string => `${id}-${of}`;
  const options = {
    id: idOf(index),
    ...(instead === undefined ? {} : { instead: idOf(instead) }),
  };
  const turn = await patiently(() => chat.say(said, options));
  if (line.twice === true) await patiently(() => chat.say(said, options));
  if (text.startsWith('pay')) await approve(chat, { id, index, line });
  const step = await patiently(() => turn.result());
  // A repetition counts as little after the turn as in it.
  if (line.twice === true) await patiently(() => chat.say(said, options));
  if (step.value !== answer) {
    throw new Error(`Expected "${answer}", got ${JSON.stringify(step.value)} as ${step.status}.`);
  }
}

async function approve(chat: Conversation, { id, index, line }: Played): Promise<void> {
  for (;;) {
    const [item] = await patiently(() => chat.run.pending());
    if (item === undefined) {
      await sleep(LOOK_EVERY_MS);
      continue;
    }
    const { meanwhile } = line;
    const word =
      meanwhile === undefined
        ? undefined
        : await patiently(() => chat.say(meanwhile, { id: `${id}-${index}-word` }));
    const decision: Decision = line.denied === true ? { deny: 'not today' } : { approve: true };
    const updateId = `${id}-${index}-decided`;
    await patiently(() => chat.run.decide(item.id, decision, { updateId }));
    const how = await word?.how();
    if (how === 'started') throw new Error(`Expected "${meanwhile}" to be sent, got ${how}.`);
    return;
  }
}
