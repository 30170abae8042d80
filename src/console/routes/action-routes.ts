/** What changes runs: start, messages, limits, answers, the end. */
import { defined } from '../../core/base/defined.ts';
import type { AnswerReceipt } from '../../core/contract/messages.ts';
import type { Decision, StatedActor } from '../../core/contract/pending.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { ActionAnswer } from '../api-actions.ts';
import { settledFirst } from '../actions.ts';
import { invalid } from '../refusal.ts';
import {
  choiceIn,
  flagIn,
  jsonIn,
  limitsIn,
  mediaIn,
  objectIn,
  optionalText,
  readBody,
  textIn,
} from '../request-body.ts';
import { actorOf, type AddRoutes } from './route-parts.ts';

type Body = { readonly [name: string]: unknown };

/** One action on a run: the fields of its body, and what it does. */
interface RunAction {
  readonly fields: readonly string[];
  readonly work: (
    run: RunHandle,
    body: Body,
    sent: SentBy,
  ) => Promise<Omit<ActionAnswer, 'requestId' | 'run'>>;
}

/** What a request brings beside its body. */
interface SentBy {
  readonly requestId: string;
  /** Who acts, if a proxy names somebody. */
  readonly actor: StatedActor;
}

const INPUT_KINDS = ['queue', 'steer', 'interrupt'] as const;

const RUN_ACTIONS: Readonly<Record<string, RunAction>> = {
  send: {
    fields: ['text', 'kind', 'tree'],
    work: async (run, body, { requestId: id, actor }) => {
      const kind = choiceIn(body, 'kind', INPUT_KINDS);
      const options = { id, tree: flagIn(body, 'tree'), ...actor, ...defined({ kind }) };
      return { position: await run.send(textIn(body, 'text'), options) };
    },
  },
  pause: {
    fields: ['tree'],
    work: async (run, body, { actor }) => run.pause({ tree: flagIn(body, 'tree'), ...actor }),
  },
  resume: {
    fields: ['tree'],
    work: async (run, body, { actor }) => run.resume({ tree: flagIn(body, 'tree'), ...actor }),
  },
  cancel: {
    fields: ['reason', 'force'],
    work: async (run, body, { actor }) => {
      const options = { force: flagIn(body, 'force'), ...actor };
      await run.cancel(optionalText(body, 'reason'), options);
      return {};
    },
  },
  adjust: {
    fields: ['limits'],
    work: async (run, body, { actor }) => run.adjust(limitsIn(body) ?? {}, actor),
  },
  answer: {
    fields: ['id', 'value'],
    work: async (run, body, { requestId: updateId, actor }) => {
      const [id, value] = [textIn(body, 'id'), jsonIn(body, 'value')];
      return settling(() => run.answer(id, value, { updateId, ...actor }));
    },
  },
  revoke: {
    fields: ['id'],
    work: async (run, body, { actor }) => {
      await run.revoke(textIn(body, 'id'), actor);
      return {};
    },
  },
  decide: {
    fields: ['id', 'decision'],
    work: async (run, body, { requestId: updateId, actor }) => {
      const [id, decision] = [textIn(body, 'id'), objectIn(body, 'decision')];
      if (decision === undefined) throw invalid('Expected `decision`, got nothing. Set it.');
      // The run itself checks what it says.
      return settling(() =>
        run.decide(id, decision as unknown as Decision, { updateId, ...actor }),
      );
    },
  },
};

const START_FIELDS = ['requestId', 'agent', 'task', 'media', 'context', 'limits', 'model', 'id'];

/** Adds the POST routes of runs. */
export const addActionRoutes: AddRoutes = (app, { everloop, act, feed }) => {
  app.post('/runs', async (c) => {
    const body = await readBody(c.req.raw, START_FIELDS);
    const agent = textIn(body, 'agent');
    const order = { name: 'start', asker: c.get('asker'), run: agent, body };
    const answer = await act(order, async (requestId) => {
      const text = textIn(body, 'task');
      const media = mediaIn(body);
      const task = media === undefined ? text : { text, media };
      const options = {
        task,
        id: optionalText(body, 'id') ?? `${agent}-${requestId}`,
        ...defined({
          // The id of a start that named none is that of this request alone.
          ifExists: body['id'] === undefined ? ('attach' as const) : undefined,
          context: objectIn(body, 'context'),
          limits: limitsIn(body),
          model: optionalText(body, 'model'),
        }),
      };
      const run = await everloop.start(agent, options);
      return { run: run.id };
    });
    return c.json(answer);
  });
  for (const [name, { fields, work }] of Object.entries(RUN_ACTIONS)) {
    app.post(`/runs/:id/${name}`, async (c) => {
      const id = c.req.param('id');
      const run = everloop.attach(id);
      const body = await readBody(c.req.raw, ['requestId', ...fields]);
      const order = { name, asker: c.get('asker'), run: id, body };
      const answer = await act(order, async (requestId) => ({
        run: id,
        ...(await work(run, body, { requestId, actor: actorOf(c.get('asker')) })),
      }));
      feed.hurry(id);
      return c.json(answer);
    });
  }
};

async function settling(
  work: () => Promise<AnswerReceipt>,
): Promise<Pick<ActionAnswer, 'item' | 'unapplied'>> {
  try {
    const { id: item, ...more } = await work();
    return { item, ...more };
  } catch (error) {
    throw settledFirst(error);
  }
}
