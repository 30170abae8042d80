/** Conversations: what is said to one, and its turns. */
import { conversationPlace } from '../../core/base/ids.ts';
import { defined } from '../../core/base/defined.ts';
import { textOf } from '../../core/base/message.ts';
import { readTurns, type ConversationTurn, type TurnsSource } from '../../client/turns.ts';
import type { TurnRow, TurnsAnswer } from '../api.ts';
import { invalid } from '../refusal.ts';
import { numberIn, optionalText, readBody, textIn } from '../request-body.ts';
import { stepHead } from '../run-header.ts';
import type { RunReader } from '../run-reader.ts';
import { actorOf, type AddRoutes } from './route-parts.ts';

/** Turns of an answer. */
const MAX_TURNS = 100;

const SHOWN_TURNS = 20;

/** Adds `/conversations/:id/say` and `/runs/:id/turns`. */
export const addConversationRoutes: AddRoutes = (app, { everloop, reader, reads, act, feed }) => {
  app.post('/conversations/:id/say', async (c) => {
    const id = c.req.param('id');
    const body = await readBody(c.req.raw, ['requestId', 'agent', 'tenant', 'text']);
    const order = { name: 'say', asker: c.get('asker'), run: id, body };
    const answer = await act(order, async (requestId) => {
      const options = { id, ...defined({ tenant: optionalText(body, 'tenant') }) };
      const chat = everloop.conversation(textIn(body, 'agent'), options);
      await chat.say(textIn(body, 'text'), { id: requestId, ...actorOf(c.get('asker')) });
      return { run: chat.run.id };
    });
    feed.hurry(answer.run);
    return c.json(answer);
  });
  app.get('/runs/:id/turns', async (c) => {
    const id = c.req.param('id');
    if (conversationPlace(id) === undefined) {
      throw invalid(`Expected the run of a conversation, got \`${id}\`. Only those have turns.`);
    }
    const range = { least: 1, most: MAX_TURNS, fallback: SHOWN_TURNS };
    const last = numberIn(c.req.query('last'), 'last', range);
    const turns = await reads.once(`turns ${last} ${id}`, () =>
      readTurns(turnsSource(reader, id), { last }),
    );
    return c.json({ turns: turns.map(rowOfTurn) } satisfies TurnsAnswer);
  });
};

/** Pages that the console has read already are not read again. */
function turnsSource(reader: RunReader, id: string): TurnsSource {
  return {
    events: () => reader.events(id, { from: 0, limit: Infinity }),
    transcript: ({ from = 0, limit = Infinity } = {}) => reader.entries(id, { from, limit }),
    status: async () => (await reader.overview(id)).status,
  };
}

function rowOfTurn({ step, entries, events, ...turn }: ConversationTurn): TurnRow {
  const { number, messageId, by, text, startedAt, replaced, expired } = turn;
  const said = entries.slice(1).filter(({ origin }) => origin === 'input');
  const ids = events.flatMap((event) => (event.type === 'agent:input' ? [event.inputId] : []));
  return {
    number,
    messageId,
    text,
    startedAt,
    more: said.map(({ messages }, index) => ({
      messageId: ids[index] ?? '',
      text: messages.map(textOf).join('\n'),
    })),
    iteration: (events[0]?.iteration ?? 0) + 1,
    step: step === null ? null : stepHead(step),
    value: step?.value ?? null,
    ...defined({ by, replaced, expired }),
  };
}
