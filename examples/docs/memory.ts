/** The examples of docs/memory.md; test/docs/memory.test.ts runs them. */
import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  ToolError,
  type AgentDefinition,
  type AgentModel,
  type Everloop,
  type JsonObject,
  type TurnHandle,
} from '../../src/index.ts';

// #region store
export interface Note {
  readonly id: string;
  readonly about: string;
  readonly text: string;
}

export interface Notes {
  add(note: Note): Promise<void>;
  find(about: string, word: string): Promise<readonly Note[]>;
}

/** Notes in a file, a line of JSON each. */
export function openNotes(file: string): Notes {
  const read = async (): Promise<readonly Note[]> => {
    const text = await readFile(file, 'utf8').catch(() => '');
    const byId = new Map<string, Note>();
    for (const line of text.split('\n')) {
      try {
        const note = JSON.parse(line) as Note;
        byId.set(note.id, note); // the same id again is the same note
      } catch {
        // An empty line, or one that a crash has cut.
      }
    }
    return [...byId.values()];
  };
  return {
    // The newline in front ends a line that was cut.
    add: (note) => appendFile(file, `\n${JSON.stringify(note)}\n`),
    find: async (about, word) => {
      const isAsked = (note: Note): boolean =>
        note.about === about && note.text.toLowerCase().includes(word.toLowerCase());
      return (await read()).filter(isAsked).slice(-20);
    },
  };
}
// #endregion

/** An agent that remembers what customers say, over runs. */
export function host(model: AgentModel, notes: Notes): AgentDefinition {
  // #region tools
  /** Whose notes a run may read and write: the start says it. */
  const ownerOf = (context: JsonObject = {}): string => {
    const id = context['_customer'];
    if (typeof id === 'string') return id;
    throw new ToolError('this run is about no customer');
  };
  const remember = defineTool({
    name: 'remember',
    description: 'Keeps a lasting fact about this customer, in one sentence.',
    effect: 'idempotent',
    readsContext: true,
    parameters: z.object({ fact: z.string().max(500) }),
    execute: async ({ fact }, { context, idempotencyKey }) => {
      await notes.add({ id: idempotencyKey, about: ownerOf(context), text: fact });
      return 'Noted.';
    },
  });
  const recall = defineTool({
    name: 'recall',
    description: 'Finds facts about this customer that contain a word; an empty word finds all.',
    effect: 'read',
    readsContext: true,
    parameters: z.object({ word: z.string() }),
    execute: async ({ word }, { context }) => {
      const found = await notes.find(ownerOf(context), word);
      return found.length === 0 ? 'Nothing is known.' : found.map(({ text }) => text);
    },
  });
  const host = defineAgent({
    name: 'host',
    model,
    instructions: 'You book tables. Look up what is known of the customer before you ask.',
    tools: [remember, recall],
  });
  // #endregion
  return host;
}

/** A conversation about one customer, whose id no model sees. */
export async function booked(everloop: Everloop): Promise<TurnHandle> {
  // #region start
  const chat = everloop.conversation('host', {
    id: 'guest-42',
    context: { _customer: 'C7' },
  });
  const turn = await chat.say('A table for two tonight, please.');
  // #endregion
  return turn;
}
