/**
 * A provider over HTTP that speaks four protocols and checks each request as the real ones do: it answers
 * 400, in their words, what they refuse. What it checks is known from reports of their users.
 */
import type { ServerResponse } from 'node:http';
import { startPlainServer, type PlainServer } from '../aimock.ts';
import { chatProblem } from './chat.ts';
import { geminiProblem } from './gemini.ts';
import type { Fields } from './json.ts';
import { messagesProblem } from './messages.ts';
import { responsesProblem } from './responses.ts';

/** A request that was refused. */
export interface Refusal {
  readonly path: string;
  readonly problem: string;
  readonly body: unknown;
}

/** The provider. The path of a base URL says how strict it is: `/openai/v1` or any other. */
export interface RefusingProvider extends PlainServer {
  readonly refusals: readonly Refusal[];
  /** The requests that it took. */
  readonly bodies: readonly unknown[];
  /** How many these are. */
  readonly taken: () => number;
}

/** Starts a provider that answers what it takes with `OK.` */
export async function startRefusingProvider(): Promise<RefusingProvider> {
  const refusals: Refusal[] = [];
  const bodies: unknown[] = [];
  const server = await startPlainServer((request, response, text) => {
    const path = request.url ?? '';
    const body = JSON.parse(text) as Fields;
    const problem = refusalOf(path, body);
    if (problem === undefined) {
      bodies.push(body);
      return say(response, path);
    }
    refusals.push({ path, problem, body });
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(errorOf(path, problem)));
  });
  return { ...server, refusals, bodies, taken: () => bodies.length };
}

/** Why the provider refuses `body` at `path`; undefined: it takes it. */
export function refusalOf(path: string, body: Fields): string | undefined {
  const [, model = ''] = /\/models\/([^:]+):/.exec(path) ?? [];
  if (path.includes(':')) return geminiProblem(body, decodeURIComponent(model));
  if (path.endsWith('/messages')) return messagesProblem(body);
  if (path.endsWith('/responses')) return responsesProblem(body);
  return chatProblem(body, path.startsWith('/openai/') ? 'openai' : 'compatible');
}

function errorOf(path: string, message: string): object {
  if (path.includes(':')) return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };
  const error = { type: 'invalid_request_error', message, param: null, code: null };
  return path.endsWith('/messages') ? { type: 'error', error } : { error };
}

/** `OK.`, whole, in the form of the protocol. */
function say(response: ServerResponse, path: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(replyAt(path)));
}

function replyAt(path: string): object {
  const text = 'OK.';
  if (path.includes(':')) {
    const candidate = { content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' };
    return { candidates: [candidate] };
  }
  if (path.endsWith('/messages')) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const content = [{ type: 'text', text }];
    return { type: 'message', id: 'msg_1', model: 'm', content, stop_reason: 'end_turn', usage };
  }
  if (path.endsWith('/responses')) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    const message = { type: 'message', id: 'msg_1', role: 'assistant', content };
    const usage = { input_tokens: 1, output_tokens: 1 };
    return { id: 'resp_1', created_at: 1, model: 'm', output: [message], usage };
  }
  const message = { role: 'assistant', content: text };
  return {
    id: 'c1',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  };
}
