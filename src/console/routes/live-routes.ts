/** The connections of the live feed. */
import type { LiveWants } from '../live-frames.ts';
import { defined } from '../../core/base/defined.ts';
import { invalid } from '../refusal.ts';
import { flagIn, numberIn, optionalText, readBody } from '../request-body.ts';
import type { AddRoutes } from './route-parts.ts';

const FIELDS = ['run', 'after', 'tree', 'list', 'inbox'];

/** Adds `GET /live` and `PUT /live/:connection`. */
export const addLiveRoutes: AddRoutes = (app, { feed }) => {
  app.get('/live', (c) => {
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    // The answer to HEAD has no body, so no reader would ever end the connection.
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    const { run, after, tree, list, inbox } = c.req.query();
    const wants = {
      ...defined({
        run: run || undefined,
        after: after === undefined ? undefined : numberIn(after, 'after', NUMBERS),
      }),
      tree: tree === 'true',
      list: list === 'true',
      inbox: inbox === 'true',
    };
    const bytes = feed.open(wants, c.get('asker').role);
    return new Response(bytes, { headers });
  });
  app.put('/live/:connection', async (c) => {
    const body = await readBody(c.req.raw, FIELDS);
    feed.change(c.req.param('connection'), wantsOf(body));
    return c.body(null, 204);
  });
};

const NUMBERS = { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 };

function wantsOf(body: { readonly [name: string]: unknown }): LiveWants {
  const { after } = body;
  if (after !== undefined && !(Number.isSafeInteger(after) && (after as number) >= 0)) {
    throw invalid('Expected `after` to be a whole number from 0 up. Correct it.');
  }
  return {
    ...defined({ run: optionalText(body, 'run'), after: after as number | undefined }),
    tree: flagIn(body, 'tree'),
    list: flagIn(body, 'list'),
    inbox: flagIn(body, 'inbox'),
  };
}
