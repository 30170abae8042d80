/** The agents that a console knows, their first request, and the workers. */
import { defined } from '../../core/base/defined.ts';
import type { AgentAnswer, SetupAnswer, WorkersAnswer } from '../api.ts';
import { objectIn, optionalText, readBody } from '../request-body.ts';
import { ANSWER_MS, within } from '../bounded-reads.ts';
import type { AddRoutes } from './route-parts.ts';

/** Adds `/agents`, `/agents/:name`, `/agents/:name/preview`, `/setup` and `/workers`. */
export const addAgentRoutes: AddRoutes = (app, { agents, everloop, reads, place }) => {
  app.get('/agents', async (c) => c.json(await agents.list()));
  app.get('/agents/:name', async (c) =>
    c.json({ agent: await agents.card(c.req.param('name')) } satisfies AgentAnswer),
  );
  app.post('/agents/:name/preview', async (c) => {
    const body = await readBody(c.req.raw, ['task', 'context']);
    const given = defined({
      task: optionalText(body, 'task'),
      context: objectIn(body, 'context'),
    });
    return c.json(await within(ANSWER_MS, agents.preview(c.req.param('name'), given)));
  });
  app.get('/setup', async (c) => {
    const answer: SetupAnswer = await reads.once('setup', () => everloop.setup());
    return c.json(answer);
  });
  app.get('/workers', async (c) => {
    const found = await reads.once('workers', () => everloop.workers());
    const workers = found.map(({ lastContactAt: lastContact, ...worker }) => ({
      ...worker,
      taskQueue: place.taskQueue ?? '',
      lastContact,
      // PID@HOST/node-22/everloop-0.1.0/BUILD/DIGEST, with `-` for no build.
      ...defined({ build: buildOf(worker.identity) }),
    }));
    return c.json({ taskQueue: place.taskQueue ?? null, workers } satisfies WorkersAnswer);
  });
};

function buildOf(identity: string): string | undefined {
  const build = identity.split('/')[3] ?? '';
  return build === '' || build === '-' ? undefined : build;
}
