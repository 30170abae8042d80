/** One run: its header, and every part of its page. */
import type { Message } from '../../core/base/message.ts';
import { tokensOf } from '../../core/ask/context-tokens.ts';
import { listPrograms } from '../../client/programs.ts';
import { defined } from '../../core/base/defined.ts';
import { shown } from '../../core/text/shown.ts';
import type {
  CallAnswer,
  EventsAnswer,
  LinksAnswer,
  ProgramAnswer,
  ProgramsAnswer,
  ScratchpadAnswer,
  StatsAnswer,
  ToolCard,
  TreeRunsAnswer,
} from '../api.ts';
import { toolOfRequest } from '../agent-book.ts';
import { gather } from '../bounded-reads.ts';
import { ConsoleRefusal, invalid } from '../refusal.ts';
import { numberIn } from '../request-body.ts';
import { findCall } from '../whole-call.ts';
import type { ItemRange } from '../run-reader.ts';
import { promptDifference } from '../view/prompt.ts';
import { readingOf, type AddRoutes, type RouteParts } from './route-parts.ts';
import { createRunFiles } from './run-file.ts';

/** Events of a page. */
const MAX_EVENTS = 1_000;

/** Adds the routes below `/runs/:id` that read. */
export const addRunRoutes: AddRoutes = (app, parts) => {
  addContentRoutes(app, parts);
  addStateRoutes(app, parts);
  app.get('/runs/:id/scratchpad', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    const { request, isPartial } = await reading('scratchpad', (run) => run.scratchpad());
    const { messages } = request;
    const tools = (request.tools ?? []).map(toolOfRequest);
    const answer: ScratchpadAnswer = {
      messages,
      tools,
      tokens: messages.map((message) => tokensOf([message])),
      toolTokens: tools.map(tokensOfTool),
      ...promptDifference(messages, await newestMessages(parts, c.req.param('id'))),
      isPartial,
    };
    return c.json(answer);
  });
};

/** Entries of the transcript that a prompt is compared with. */
const MAX_COMPARED = 400;

async function newestMessages({ reader }: RouteParts, id: string): Promise<readonly Message[]> {
  const { status } = await reader.overview(id);
  const from = Math.max(0, status.entries - MAX_COMPARED);
  const entries = await reader.entries(id, { from, limit: MAX_COMPARED }).catch(() => []);
  return entries.flatMap(({ messages }) => messages);
}

function tokensOfTool(tool: ToolCard): number {
  return tokensOf([{ role: 'user', parts: [{ type: 'text', text: JSON.stringify(tool) }] }]);
}

/** What was said and done in a run. */
const addContentRoutes: AddRoutes = (app, parts) => {
  const { reader, reads } = parts;
  const files = createRunFiles(parts);
  app.get('/runs/:id', async (c) => c.json(await reader.header(c.req.param('id'))));
  app.get('/runs/:id/events', async (c) => {
    const id = c.req.param('id');
    const { from, limit, types } = c.req.query();
    const whole = { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 };
    const range = {
      from: numberIn(from, 'from', whole),
      limit: numberIn(limit, 'limit', { least: 1, most: MAX_EVENTS, fallback: MAX_EVENTS }),
    };
    const {
      events = [],
      view,
      ...missing
    } = await gather({
      events: reader.events(id, range),
      view: reader.overview(id),
    });
    requireRun(missing.partial);
    const end = range.from + events.length;
    const total = view?.status.events ?? null;
    const isLast = events.length < range.limit && (total === null || end >= total);
    const wanted = types === undefined || types === '' ? null : new Set(types.split(','));
    const answer: EventsAnswer = {
      events: wanted === null ? events : events.filter(({ type }) => wanted.has(type)),
      next: isLast ? null : end,
      total,
      ...missing,
    };
    return c.json(answer);
  });
  app.get('/runs/:id/calls/:callId', async (c) => {
    const { id, callId } = c.req.param();
    const call = await reads.once(`call ${id} ${callId}`, () => findCall(reader, id, callId));
    return c.json(call satisfies CallAnswer);
  });
  app.get('/runs/:id/export', async (c) => {
    const { kind = 'run' } = c.req.query();
    const id = c.req.param('id');
    // The answer to HEAD has no body, so no reader would ever end the file.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'application/json' });
    if (kind === 'history') return files.history(id);
    if (kind === 'run') return files.run(id);
    throw invalid(
      `Expected the kind \`run\` or \`history\`, got ${shown(kind)}. Choose one of them.`,
    );
  });
};

/** Where a run stands. */
const addStateRoutes: AddRoutes = (app, parts) => {
  const { reader } = parts;
  app.get('/runs/:id/tree', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    const { depth } = c.req.query();
    const options = defined({
      depth: depth ? numberIn(depth, 'depth', { least: 0, most: 100, fallback: 100 }) : undefined,
    });
    const { runs = [], ...missing } = await gather({
      runs: reading(`tree ${depth}`, (run) => run.tree(options)),
    });
    requireRun(missing.partial);
    return c.json({ runs, ...missing } satisfies TreeRunsAnswer);
  });
  app.get('/runs/:id/program', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    const { program: wanted = '' } = c.req.query();
    const options = wanted === '' ? {} : { id: wanted };
    const program = await reading(`program ${wanted}`, (run) => run.program(options));
    return c.json({ program } satisfies ProgramAnswer);
  });
  app.get('/runs/:id/programs', async (c) => {
    const id = c.req.param('id');
    const reading = readingOf(parts, id);
    // Pages that the console has read already are not read again.
    const events = (range: ItemRange) => reader.events(id, range);
    const programs = await reading('programs', () => listPrograms({ events }));
    return c.json({ programs } satisfies ProgramsAnswer);
  });
  app.get('/runs/:id/links', async (c) => {
    const reading = readingOf(parts, c.req.param('id'));
    const links = await reading('links', (run) => run.links());
    return c.json({ links } satisfies LinksAnswer);
  });
  app.get('/runs/:id/stats', async (c) => {
    const id = c.req.param('id');
    const reading = readingOf(parts, id);
    const { stats, startedWith, step, ...missing } = await gather({
      stats: reading('stats', (run) => run.stats()),
      startedWith: reading('start', (run) => run.startedWith()),
      step: reader.step(id),
    });
    requireRun(missing.partial);
    const answer: StatsAnswer = {
      stats: stats ?? null,
      startedWith: startedWith ?? null,
      step: step ?? null,
      ...missing,
    };
    return c.json(answer);
  });
};

/** Refuses the whole request if the run is not there, instead of an answer without its parts. */
function requireRun(partial: EventsAnswer['partial']): void {
  const gone = partial?.find(({ code }) => GONE.has(code));
  if (gone !== undefined) throw new ConsoleRefusal(gone.code, gone.message);
}

const GONE: ReadonlySet<string> = new Set(['run_not_found', 'not_an_agent', 'invalid_input']);
