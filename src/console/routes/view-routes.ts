/** One run as folds of its events: iterations, outline, attempts. */
import { defined } from '../../core/base/defined.ts';
import type { SpansAnswer } from '../api.ts';
import { createIterationPages, attemptViews } from '../iteration-pages.ts';
import { numberIn } from '../request-body.ts';
import { readingOf, type AddRoutes } from './route-parts.ts';

/** Iterations of a page. */
const MAX_ITERATIONS = 100;
const ITERATIONS = 50;

const ANY = { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 };

/** Adds `/runs/:id/iterations`, `/outline` and `/spans`. */
export const addViewRoutes: AddRoutes = (app, parts) => {
  const pages = createIterationPages(parts.reader);
  app.get('/runs/:id/iterations', async (c) => {
    const { from, count } = c.req.query();
    const range = {
      from: from ? numberIn(from, 'from', ANY) : null,
      count: numberIn(count, 'count', { least: 1, most: MAX_ITERATIONS, fallback: ITERATIONS }),
    };
    const reading = readingOf(parts, c.req.param('id'));
    const name = `iterations ${range.from} ${range.count}`;
    return c.json(await reading(name, (run) => pages.iterations(run, range)));
  });
  app.get('/runs/:id/outline', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    return c.json(await reading('outline', (run) => pages.outline(run)));
  });
  app.get('/runs/:id/spans', async (c) => {
    const { from, until } = c.req.query();
    const range = {
      from: numberIn(from, 'from', ANY),
      ...defined({ until: until ? numberIn(until, 'until', ANY) : undefined }),
    };
    const reading = readingOf(parts, c.req.param('id'));
    const attempts = await reading(`attempts ${range.from} ${range.until}`, (run) =>
      run.attempts(range),
    );
    return c.json({ attempts: attemptViews(attempts) } satisfies SpansAnswer);
  });
};
