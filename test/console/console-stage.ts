/** A console over runs in memory: no server, no worker and no socket. */
import type { ActionLine } from '../../src/console/actions.ts';
import {
  createConsole,
  type Console,
  type ConsoleOptions,
} from '../../src/console/serve/console.ts';
import type { ConsoleClient } from '../../src/console/console-client.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { memoryEverloop, type MemoryEverloop } from '../support/memory-everloop.ts';

export const TOKEN = 'a-token-that-may-act';
export const READ_TOKEN = 'a-token-that-looks';
const HOST = '127.0.0.1:8234';

/** What a request of a test differs in. */
export interface AskOptions {
  readonly method?: string;
  /** Default {@link TOKEN}; null: none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is if it is a text. */
  readonly body?: unknown;
}

/** An answer with its body as JSON; `body` is the text if it is none. */
export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface ConsoleStage {
  readonly console: Console;
  readonly everloop: MemoryEverloop;
  readonly lines: readonly ActionLine[];
  readonly request: (path: string, options?: AskOptions) => Promise<Response>;
  readonly ask: (path: string, options?: AskOptions) => Promise<Asked>;
  /** A change from the console's own page. */
  readonly post: (path: string, body: unknown, options?: AskOptions) => Promise<Asked>;
}

/** A console of `agents`; `change` replaces what its client does. */
export function consoleStage(
  agents: readonly AgentDefinition[],
  options: Partial<ConsoleOptions> = {},
  change: (everloop: MemoryEverloop) => ConsoleClient = (everloop) => everloop,
): ConsoleStage {
  const everloop = memoryEverloop(agents);
  const lines: ActionLine[] = [];
  const console = createConsole({
    everloop: change(everloop),
    access: { token: TOKEN, readToken: READ_TOKEN },
    log: (line) => lines.push(line),
    ...options,
  });
  const request: ConsoleStage['request'] = (
    path,
    { method = 'GET', token = TOKEN, headers = {}, body } = {},
  ) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const given = token === null ? {} : { authorization: `Bearer ${token}` };
    return console.fetch(
      new Request(`http://${HOST}${path}`, {
        method,
        headers: { host: HOST, ...given, ...headers },
        ...(text !== undefined && { body: text }),
      }),
    );
  };
  const ask: ConsoleStage['ask'] = async (path, asked) => {
    const answer = await request(path, asked);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const post: ConsoleStage['post'] = (path, body, { headers, ...asked } = {}) =>
    ask(path, {
      method: 'POST',
      body,
      headers: { origin: `http://${HOST}`, ...headers },
      ...asked,
    });
  return { console, everloop, lines, request, ask, post };
}
