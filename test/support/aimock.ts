/**
 * Providers for tests, over real HTTP: aimock where it can produce what is wanted, a plain server
 * where bytes have to be chosen (cut connections, odd headers).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as anthropic6 from '@ai-sdk/anthropic';
import * as anthropic7 from '@ai-sdk-7/anthropic';
import * as google6 from '@ai-sdk/google';
import * as google7 from '@ai-sdk-7/google';
import * as openai6 from '@ai-sdk/openai';
import * as openai7 from '@ai-sdk-7/openai';
import * as compatible6 from '@ai-sdk/openai-compatible';
import * as compatible7 from '@ai-sdk-7/openai-compatible';
import { LLMock } from '@copilotkit/aimock';
import type { LanguageModel } from '../../src/define/model/language-model.ts';

/** The protocols that are spoken to a provider. */
export const protocols = [
  'openai-compatible',
  'openai-chat',
  'openai-responses',
  'anthropic',
  'google',
] as const;

/** One of {@link protocols}. */
export type Protocol = (typeof protocols)[number];

/**
 * The version of the AI SDK whose providers the tests use: 6, or what AI_SDK says. The project
 * `ai-sdk-7` repeats the tests of models with the other.
 */
export const AI_SDK: 6 | 7 = process.env['AI_SDK'] === '7' ? 7 : 6;

const { createAnthropic } = AI_SDK === 7 ? anthropic7 : anthropic6;
const { createGoogleGenerativeAI } = AI_SDK === 7 ? google7 : google6;
const { createOpenAI } = AI_SDK === 7 ? openai7 : openai6;
const { createOpenAICompatible } = AI_SDK === 7 ? compatible7 : compatible6;

/** A model of the AI SDK that speaks `protocol` to the server at `url`. */
export function modelAt(url: string, protocol: Protocol, modelId = 'test-model'): LanguageModel {
  const apiKey = 'sk-test-key-0123456789';
  switch (protocol) {
    case 'openai-compatible':
      return createOpenAICompatible({ name: 'mock', baseURL: `${url}/v1`, apiKey })(modelId);
    case 'openai-chat':
      return createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat(modelId);
    case 'openai-responses':
      return createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses(modelId);
    case 'anthropic':
      return createAnthropic({ baseURL: `${url}/v1`, apiKey })(modelId);
    case 'google':
      return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })(modelId);
  }
}

/** A running aimock; stop it when the tests are done. */
export async function startAimock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  await mock.start();
  return mock;
}

/** A plain HTTP server and what is needed to look at its connections. */
export interface PlainServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a server that answers every request with `handle`, once the request's body has been read;
 * at any free port unless told where.
 */
export async function startPlainServer(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  wantedPort = 0,
): Promise<PlainServer> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => handle(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(wantedPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The event-stream text of `events`, each as the data of one event. */
export function sse(events: readonly unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}
