/**
 * The console as a function from Request to Response: pages, API and live feed over one client. It
 * does nothing that the client cannot do, and can be mounted in any server.
 */
import { Hono } from 'hono';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { clip } from '../../core/text/cut.ts';
import { accessRules, protect, type ConsoleAccess, type ConsoleEnv } from '../access.ts';
import { createActions, type ActionLine } from '../actions.ts';
import { createAgentBook, type ConsoleAgents } from '../agent-book.ts';
import { API_PATH, type ApiError } from '../api.ts';
import { ANSWER_MS, createReads } from '../bounded-reads.ts';
import { LiveFeed, type LiveFeedParts } from '../live/live-feed.ts';
import { apiErrorOf, statusOfError } from '../refusal.ts';
import { addActionRoutes } from '../routes/action-routes.ts';
import { addAgentRoutes } from '../routes/agent-routes.ts';
import { addConversationRoutes } from '../routes/conversation-routes.ts';
import { addForkRoutes } from '../routes/fork-routes.ts';
import { addListRoutes } from '../routes/lists.ts';
import { addLiveRoutes } from '../routes/live-routes.ts';
import type { ConsoleClient } from '../console-client.ts';
import type { RouteParts } from '../routes/route-parts.ts';
import { addRunRoutes } from '../routes/run-routes.ts';
import { addScheduleRoutes } from '../routes/schedule-routes.ts';
import { addTenantRoutes } from '../routes/tenant-routes.ts';
import { addViewRoutes } from '../routes/view-routes.ts';
import { RunReader } from '../run-reader.ts';
import { createWebFiles } from '../web-files.ts';

/** Options of {@link createConsole}. */
export interface ConsoleOptions {
  /** The client whose runs it shows, such as that of `connect()`. The caller closes it. */
  readonly everloop: ConsoleClient;
  /** Who may use it. */
  readonly access: ConsoleAccess;
  /** Definitions that it shows and tries. Default: it asks the workers for what they serve. */
  readonly agents?: ConsoleAgents;
  /** The path at which it is mounted, such as `/console`. Default: the root. */
  readonly base?: string;
  /** The folder of its pages. Default: that of the package. */
  readonly web?: string;
  /** Gets one line for each action, without contents. Default: nothing does. */
  readonly log?: (line: ActionLine) => void;
  /** Where it stands, for its page about the system. Default: not said. */
  readonly place?: Partial<RouteParts['place']>;
  /** How long an answer may take, in ms; default 12,000. */
  readonly answerMs?: number;
  /** Times of the live feed, in ms. Default: see docs/console.md. */
  readonly times?: LiveFeedParts['times'];
}

/** A console. */
export interface Console {
  /** Answers one request. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Disconnects all tabs and stops following runs. */
  readonly close: () => void;
}

/**
 * Creates a console over `everloop`.
 *
 * @throws UsageError `environment` for a token that is too short.
 * @example
 * const everloop = await connect();
 * const console = createConsole({ everloop, access: { token }, base: '/console' });
 * app.all('/console/*', (c) => console.fetch(c.req.raw)); // Hono
 */
export function createConsole(options: ConsoleOptions): Console {
  const { everloop, access, base = '', log = () => undefined } = options;
  const rules = accessRules(access);
  const reads = createReads(options.answerMs ?? ANSWER_MS);
  const reader = new RunReader(everloop, reads);
  const feed = new LiveFeed({ everloop, reader, times: options.times });
  const api = new Hono<ConsoleEnv>();
  api.use(rules.api);
  const parts = {
    everloop,
    reader,
    reads,
    feed,
    act: createActions(log),
    agents: createAgentBook({
      given: options.agents,
      served: () => reads.once('agents', () => everloop.agents()),
      taskQueue: options.place?.taskQueue,
    }),
    place: { address: null, namespace: null, temporalUi: null, ...options.place },
  };
  for (const add of ROUTES) add(api, parts);
  // A wrong path of the API is an error of its caller, not a page.
  api.all('*', () => refused({ code: 'not_found', message: 'Expected a path of the API.' }));
  const files = createWebFiles(options.web, base);
  const app = new Hono<ConsoleEnv>().basePath(base);
  app.use(rules.everywhere);
  app.route(API_PATH, api);
  app.get('/assets/*', async (c) => {
    const answer = await files.asset(c.req.path.slice(base.length));
    return answer ?? refused({ code: 'not_found', message: 'Expected a file of the console.' });
  });
  app.get('*', () => files.page());
  app.onError((error) => {
    const { isBug = false, ...body } = apiErrorOf(error);
    if (isBug) {
      const what = clip(errorText(error), MAX_WARNING);
      process.emitWarning(`The console failed: ${what}`, 'EverloopWarning');
    }
    return refused(body);
  });
  return {
    close: () => feed.close(),
    fetch: async (request) => {
      const answer = await app.fetch(request);
      protect(answer);
      return answer;
    },
  };
}

/** Characters of an unexpected error in a warning: it may hold what somebody has sent. */
const MAX_WARNING = 500;

/** Routes in the order in which they are matched: `/runs/progress` before `/runs/:id`. */
const ROUTES = [
  addListRoutes,
  addAgentRoutes,
  addLiveRoutes,
  addActionRoutes,
  addForkRoutes,
  addConversationRoutes,
  addScheduleRoutes,
  addTenantRoutes,
  addViewRoutes,
  addRunRoutes,
];

function refused(error: ApiError): Response {
  const headers = error.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : undefined;
  return Response.json(error, { status: statusOfError(error.code), ...defined({ headers }) });
}
