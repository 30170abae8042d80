/** Forks: the moment that one begins from, its start, and how two runs differ. */
import { defined } from '../../core/base/defined.ts';
import type { ForkEdit, ForkEffects } from '../../core/base/fork.ts';
import { forkId } from '../../core/base/ids.ts';
import { changingCalls, listedCalls } from '../../core/fork/recorded-calls.ts';
import { shown } from '../../core/text/shown.ts';
import { diffRuns } from '../../client/forks/run-diff.ts';
import type { ForkStartOptions } from '../../client/forks.ts';
import type { DiffAnswer, MomentAnswer } from '../api-forks.ts';
import { ConsoleRefusal, invalid } from '../refusal.ts';
import { limitsIn, numberIn, objectIn, optionalText, readBody } from '../request-body.ts';
import { diffView } from '../view/forks/diff.ts';
import { editableEntries } from '../view/forks/moments.ts';
import { readingOf, type AddRoutes } from './route-parts.ts';

/** Entries of a moment. */
const MAX_ENTRIES = 200;

const ITERATION = { least: 1, most: Number.MAX_SAFE_INTEGER, fallback: 1 };

const FORK_FIELDS = [
  'requestId',
  'at',
  'edits',
  'task',
  'context',
  'instructions',
  'definition',
  'agent',
  'model',
  'limits',
  'effects',
  'stats',
  'id',
];

/** Adds `/runs/:id/moment`, `/runs/:id/fork` and `/diff`. */
export const addForkRoutes: AddRoutes = (app, parts) => {
  const { everloop, reads, act } = parts;
  app.get('/runs/:id/moment', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    if (c.get('asker').role !== 'operate') throw new ConsoleRefusal('forbidden', MAY_NOT_ASK);
    const iteration = numberIn(c.req.query('iteration'), 'iteration', ITERATION);
    const moment = await reading(`moment ${iteration}`, (run) => run.at({ iteration }));
    const entries = editableEntries(moment.entries);
    const answer: MomentAnswer = {
      iteration: moment.iteration,
      model: moment.agent.model ?? null,
      entries: entries.slice(-MAX_ENTRIES),
      moreEntries: Math.max(0, entries.length - MAX_ENTRIES),
      mayRepeat: listedCalls(changingCalls(moment.callsAfter)),
    };
    return c.json(answer);
  });
  app.post('/runs/:id/fork', async (c) => {
    const id = c.req.param('id');
    everloop.attach(id);
    const body = await readBody(c.req.raw, FORK_FIELDS);
    const order = { name: 'fork', asker: c.get('asker'), run: id, body };
    const answer = await act(order, async (requestId) => {
      const options = { id: forkId(id, requestId), ...forkOptions(body) };
      const source = { run: id, at: { iteration: body['at'] as number } };
      return { run: (await everloop.fork(source, options)).id };
    });
    return c.json(answer);
  });
  app.get('/diff', async (c) => {
    const { a = '', b = '' } = c.req.query();
    if (a === b) {
      throw invalid(`Expected two runs, got ${shown(a)} twice. Name another as \`b\`.`);
    }
    const [left, right] = [everloop.attach(a), everloop.attach(b)];
    const answer = await reads.once(`diff ${JSON.stringify([a, b])}`, async () => {
      const diff = await diffRuns(left, right);
      const starts = await Promise.all(
        [left, right].map((run) => run.startedWith().catch(() => undefined)),
      );
      return { diff: diffView(diff, starts) } satisfies DiffAnswer;
    });
    return c.json(answer);
  });
};

const MAY_NOT_ASK =
  'Expected the token of somebody who may act, got one that may only look: a worker replays the run to show a moment. Sign in with the token of somebody who may act.';

/** What a body asks of a fork. The client checks the moment, edits and choices. */
function forkOptions(body: { readonly [name: string]: unknown }): ForkStartOptions {
  return defined({
    id: optionalText(body, 'id'),
    edits: body['edits'] as readonly ForkEdit[] | undefined,
    task: optionalText(body, 'task'),
    context: objectIn(body, 'context'),
    instructions: optionalText(body, 'instructions'),
    definition: optionalText(body, 'definition') as ForkStartOptions['definition'],
    agent: optionalText(body, 'agent'),
    model: optionalText(body, 'model'),
    limits: limitsIn(body),
    effects: optionalText(body, 'effects') as ForkEffects | undefined,
    stats: optionalText(body, 'stats') as ForkStartOptions['stats'],
  });
}
