import { inTurns } from '../../../client/connection/in-turns.ts';
import { errorText } from '../../../core/base/error-text.ts';
import { WIRE_PATH } from '../../../core/streaming/chunk-wire.ts';
import { sentToken } from '../../../protection/stream-token.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** How long a worker may take to answer. */
const ANSWER_MS = 3_000;

/** The workers at `EVERLOOP_STREAM_URL` serve provisional text to this token. */
export const streamEndpoint: DoctorCheck = {
  code: 'no-stream',
  area: 'settings',
  find: async ({ env, config }) => {
    const urls = (env['EVERLOOP_STREAM_URL'] ?? '')
      .split(',')
      .map((url) => url.trim())
      .filter((url) => url !== '');
    const token = sentToken(config.streamToken ?? '');
    const problems = await inTurns(urls, (url) => problemOf(url, token));
    return problems.filter((problem) => problem !== null);
  },
};

async function problemOf(url: string, token: string): Promise<DoctorProblem | null> {
  const status = await ask(url, token);
  if (status === 200) return null;
  const isRefused = status === 401;
  return {
    severity: 'warning',
    message: `Expected a worker that serves provisional text at ${url}, got ${isRefused ? 'one that refuses the token' : status}.`,
    advice: isRefused
      ? 'Give workers and readers the same `EVERLOOP_STREAM_TOKEN`.'
      : 'Correct `EVERLOOP_STREAM_URL`, and start workers there with `EVERLOOP_STREAM_LISTEN`.',
  };
}

/** The status of the answer, or why there is none. It asks for a run that does not exist. */
async function ask(url: string, token: string): Promise<number | string> {
  const left = new AbortController();
  const timer = setTimeout(() => left.abort(new Error('no answer within 3 s')), ANSWER_MS);
  try {
    const { status } = await fetch(new URL(`${WIRE_PATH}?runId=doctor`, url), {
      headers: { authorization: `Bearer ${token}` },
      signal: left.signal,
    });
    return status === 200 || status === 401 ? status : `status ${status}`;
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    return errorText(cause ?? error).slice(0, 200);
  } finally {
    clearTimeout(timer);
    // The answer has no end.
    left.abort();
  }
}
