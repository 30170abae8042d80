/**
 * Asks the workers which agents they serve.
 *
 * I1  A worker that is gone, slow or hostile costs only its own answer, and at most
 *     {@link WORKER_MS}; all of them at most {@link ALL_MS}.
 * I2  An answer is read up to {@link MAX_AGENTS_CHARACTERS}.
 */
import type { WorkerAgents } from '../../core/streaming/agent-description.ts';
import {
  AGENTS_PATH,
  MAX_AGENTS_CHARACTERS,
  readAgentsBody,
} from '../../core/streaming/agents-wire.ts';
import type { EndpointAddress, FindEndpoints } from './chunk-endpoints.ts';
import { keyOf, RefusedToken, refusedToken, requestOf } from './endpoint-request.ts';

const WORKER_MS = 3_000;
const ALL_MS = 10_000;

/** Requests at once. */
const AT_ONCE = 16;

/** Workers that are asked; the others count as silent. */
const MAX_ASKED = 500;

/** What workers said. */
export interface AskedAgents {
  readonly workers: readonly WorkerAgents[];
  /** Addresses of workers that did not say: gone or slow. */
  readonly silent: readonly string[];
}

/** What one worker answered; null: nothing that can be read. */
type Answer = WorkerAgents | 'refused' | null;

/**
 * Asks all workers that `find` gives. With `isEnough`, a fleet that refuses the token is silent.
 *
 * @throws UsageError `stream_token` when all workers that answer refuse the token.
 */
export async function askAgents(
  find: readonly FindEndpoints[],
  isEnough: boolean,
): Promise<AskedAgents> {
  const found = await Promise.all(find.map((look) => look().catch(() => [])));
  const addresses = [...new Map(found.flat().map((one) => [keyOf(one), one])).values()];
  const answers = new Map<EndpointAddress, Answer>();
  const all = AbortSignal.timeout(ALL_MS);
  const waiting = addresses.slice(0, MAX_ASKED).values();
  const ask = async (): Promise<void> => {
    for (const address of waiting) answers.set(address, await answerOf(address, all));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const workers: WorkerAgents[] = [];
  const silent: EndpointAddress[] = [];
  for (const address of addresses) {
    const answer = answers.get(address) ?? null;
    if (answer === null || answer === 'refused') silent.push(address);
    else workers.push(answer);
  }
  const refusing = silent.find((address) => answers.get(address) === 'refused');
  if (refusing !== undefined && workers.length === 0 && !isEnough) throw refusedToken(refusing);
  return { workers, silent: silent.map(({ url }) => url) };
}

async function answerOf(address: EndpointAddress, all: AbortSignal): Promise<Answer> {
  if (all.aborted) return null;
  const signal = AbortSignal.any([all, AbortSignal.timeout(WORKER_MS)]);
  try {
    const asked = { path: AGENTS_PATH, accept: 'application/json' };
    const response = await requestOf(address, asked, { signal, silenceMs: WORKER_MS });
    response.setEncoding('utf8');
    let text = '';
    // Returning from the loop destroys the connection.
    for await (const piece of response as AsyncIterable<string>) {
      text += piece;
      if (text.length > MAX_AGENTS_CHARACTERS) return null;
    }
    return readAgentsBody(text) ?? null;
  } catch (error) {
    return error instanceof RefusedToken ? 'refused' : null;
  }
}
