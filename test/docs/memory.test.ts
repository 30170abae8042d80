/** docs/memory.md: its code is that of examples which run here. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { booked, host, openNotes, type Notes } from '../../examples/docs/memory.ts';
import type { Conversation, ConversationOptions } from '../../src/client/conversation.ts';
import type { TurnHandle } from '../../src/client/turn.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelReply } from '../../src/core/contract/model.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-notes-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function fileOf(): string {
  return join(folder, 'notes.jsonl');
}

test('docs/memory.md quotes its example', () => {
  expect(blocksOf('memory').size).toBe(3);
  expect(blocksOf('memory')).toEqual(regionsOf('memory'));
});

function call(name: string, args: object): ModelReply {
  return { toolCalls: [{ name, args: { ...args } }] };
}

/** Runs the host, for a customer if one is named; returns what the model read of its call, and the Step. */
async function served(
  notes: Notes,
  customer: string | null,
  reply: ModelReply,
): Promise<{ readonly read: string; readonly seen: string; readonly step: Step }> {
  const script = scriptedModel([reply, 'Done.']);
  const agent = host(script.model, notes);
  const context = customer === null ? {} : { _customer: customer };
  const step = await startInMemory({ agent, task: 'Hello', context }).result;
  const messages = script.requests[1]?.messages ?? [];
  return {
    step,
    read: JSON.stringify(messages.at(-1)?.parts ?? []),
    seen: JSON.stringify(script.requests) + messages.map(textOf).join(''),
  };
}

test('a later run knows what an earlier one has learned, of this customer alone', async () => {
  const first = await served(
    openNotes(fileOf()),
    'C7',
    call('remember', { fact: 'Is allergic to nuts.' }),
  );
  // Another process opens the same file.
  const notes = openNotes(fileOf());
  const later = await served(notes, 'C7', call('recall', { word: 'NUTS' }));
  const other = await served(notes, 'C8', call('recall', { word: '' }));

  expect([first, later, other].map(({ step }) => step.status)).toEqual([
    'success',
    'success',
    'success',
  ]);
  expect(later.read).toContain('Is allergic to nuts.');
  expect(other.read).toContain('Nothing is known.');
  expect(later.seen).not.toContain('C7');
});

test('a run that names no customer has no notes', async () => {
  const { read } = await served(openNotes(fileOf()), null, call('recall', { word: '' }));

  expect(read).toContain('this run is about no customer');
});

test('a note that is written twice is one note, and a line that was cut harms no other', async () => {
  const notes = openNotes(fileOf());
  const note = { id: 'run/1.1', about: 'C7', text: 'Likes the window.' };
  await notes.add(note);
  await appendFile(fileOf(), '{"id": "run/1.2", "abo');
  await notes.add(note);

  expect(await notes.find('C7', '')).toEqual([note]);
});

test('a conversation that names the customer to the tools alone', async () => {
  const opened: (ConversationOptions | undefined)[] = [];
  const said: unknown[] = [];
  const conversation = (_agent: string, options?: ConversationOptions): Partial<Conversation> => {
    opened.push(options);
    return { say: async (text) => ({ id: 'r', text: said.push(text) }) as unknown as TurnHandle };
  };
  await booked({ conversation } as unknown as Everloop);

  expect(opened).toMatchObject([{ id: 'guest-42', context: { _customer: 'C7' } }]);
  expect(said).toEqual(['A table for two tonight, please.']);
});
