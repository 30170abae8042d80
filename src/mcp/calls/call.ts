/**
 * One attempt of a call: the request, its answer as a tool returns it, and failures by what they mean.
 *
 * I1  A request that may have left is not repeated here. The effect of the tool decides that.
 * I2  What a server says of itself is redacted; what it returns has no secret of this worker.
 */
import type { JsonObject } from '../../core/base/json.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import type { CallInput, CallResume } from '../../core/contract/call-input.ts';
import { firstBytes } from '../../core/text/cut.ts';
import { hideIn } from '../../core/text/hide.ts';
import type { ToolContext } from '../../define/definition/definitions.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import type { McpCall } from '../../define/mcp/mcp-tools.ts';
import { callInput } from '../../define/tool/call-input.ts';
import { NotSentError } from '../../define/mcp/not-sent.ts';
import { toolResult } from '../../define/tool/tool-result.ts';
import { LostIsolateError } from '../../tools/isolation.ts';
import type { CatalogueTool } from '../catalogue/catalogue.ts';
import type { McpObserver } from '../connection/mcp-observer.ts';
import type { McpConnection, McpRequestOptions } from '../connection/connection.ts';
import { McpUnreachableError, readFailure, type McpFailure } from '../connection/failures.ts';
import { visibleText } from '../text/hidden-text.ts';
import { ownRun } from './own-tools.ts';
import type { ServerPool } from '../connection/pool.ts';
import { paramHeaders } from './param-headers.ts';
import { declined, readQuestions, resumeParams } from './questions.ts';
import { readResult, type CallReading } from './result.ts';
import type { Redactor } from '../text/secrets.ts';

/** How often a request that did not leave is tried. */
const MAX_TRIES = 3;

/** The wait before the second try; it doubles. */
const FIRST_WAIT_MS = 200;

/** The longest wait for a server with HTTP 503, within the time of the call. */
const MAX_BUSY_MS = 10_000;

/** How often a server may ask within one call. */
const MAX_ROUNDS = 10;

/** How much longer a request may take than its call, so that the end of the call comes first. */
const SPARE_MS = 5_000;

/** Between two reports of progress. */
const PROGRESS_MS = 250;

/** Characters of the server's words about its progress. */
const MAX_PROGRESS = 500;

/** Texts for the user of one call, and the bytes of each; an event has room for 16 KB of JSON. */
const MAX_FOR_USER = 10;
const MAX_FOR_USER_BYTES = 6_000;

/** What a call needs besides its arguments. */
export interface McpCallParts {
  readonly server: McpServerDefinition;
  readonly pool: ServerPool;
  readonly redactor: Redactor;
  readonly observer: McpObserver;
  readonly tool: CatalogueTool;
  readonly call: McpCall;
}

/** Makes the call; returns what tools return, and throws what they throw. */
export async function callServer(
  parts: McpCallParts,
  args: JsonObject,
  context: ToolContext,
): Promise<unknown> {
  const { server, tool, call, redactor, observer } = parts;
  let { resume } = call;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const { answer, reading, asked } = await requestAnswer(parts, args, context, resume);
    const isAsking = answer['resultType'] === 'input_required';
    const told = isAsking ? undefined : (reading ?? readResult(answer));
    observer.called(server.name, told?.kind ?? 'input_required');
    if (told !== undefined) return returned(parts, told, asked, context);
    const read = readQuestions(answer);
    if (read.kind === 'unfit') {
      throw new ToolError(`the server ${server.name} ${redactor.exact(read.reason)}`);
    }
    if (tool.questions !== 'decline') return callInput(shownInput(read.input, redactor));
    resume = declined(read.input);
  }
  throw new ToolError(`the server ${server.name} asked ${MAX_ROUNDS} times`);
}

/** The questions without secrets. The note goes back to the server as it came. */
function shownInput({ requests, ...note }: CallInput, { exact }: Redactor): CallInput {
  const shown = hideIn(requests as unknown as JsonObject, exact);
  return { requests: shown as unknown as CallInput['requests'], ...note };
}

interface Answer {
  readonly answer: { readonly [field: string]: unknown };
  /** Set for an added tool, which reads its answers itself. */
  readonly reading?: CallReading;
  /** What a server of the older era asked, and was declined. */
  readonly asked: readonly string[];
}

async function requestAnswer(
  parts: McpCallParts,
  args: JsonObject,
  context: ToolContext,
  resume: CallResume | undefined,
): Promise<Answer> {
  const { signal } = context;
  for (let tries = 1; ; tries++) {
    const tried = await tryOnce(parts, args, context, resume);
    if ('answer' in tried) return tried;
    if (signal.aborted) throw neverLeft(parts);
    const { failure } = tried;
    const { waitMs = FIRST_WAIT_MS * 2 ** (tries - 1) } = failure;
    // Credentials are read again once.
    const isLast = tries === MAX_TRIES || (failure.kind === 'refused' && tries === 2);
    if (failure.kind === 'final' || failure.kind === 'lost' || isLast) {
      parts.observer.called(parts.server.name, failure.kind);
      if (failure.kind === 'lost') await pause(busyMs(parts, failure, context), signal);
      throw thrown(parts, failure);
    }
    await pause(waitMs, signal);
    if (signal.aborted) throw neverLeft(parts);
  }
}

/** How long to wait for a busy server before the call fails, since its next attempt follows soon. */
function busyMs(
  { tool }: McpCallParts,
  { waitMs = 0 }: McpFailure,
  { attempt }: ToolContext,
): number {
  return attempt < tool.spec.retry.attempts ? Math.min(waitMs, MAX_BUSY_MS) : 0;
}

/** The call was stopped before its request left. */
function neverLeft({ server }: McpCallParts): NotSentError {
  return new NotSentError(`the server ${server.name} had not been reached when the call ended`);
}

type Tried = Answer | { readonly failure: McpFailure };

async function tryOnce(
  parts: McpCallParts,
  args: JsonObject,
  context: ToolContext,
  resume: CallResume | undefined,
): Promise<Tried> {
  const { pool, tool } = parts;
  const { signal, runId } = context;
  let lease;
  try {
    lease = await pool.lease(runId, signal);
  } catch (error) {
    if (signal.aborted) throw neverLeft(parts);
    if (!(error instanceof McpUnreachableError)) throw error;
    const { isRefused, message } = error;
    return { failure: { kind: isRefused ? 'refused' : 'not_sent', message } };
  }
  const { connection, release } = lease;
  const questions = connection.isModern ? undefined : connection.noteQuestions();
  try {
    const answer = await send(connection, parts, args, context, resume);
    return { ...answer, asked: questions?.(true) ?? [] };
  } catch (error) {
    // The SDK reports an abort of ours as a time-out, so the own signal is asked first. What is
    // returned may never settle, so it is not awaited here: the lease would never end.
    if (signal.aborted) {
      parts.observer.called(parts.server.name, 'stopped');
      return stopped(tool, signal);
    }
    const failure = readFailure(error, connection.hasSession());
    if (failure.isBroken === true || failure.kind === 'refused') release(true);
    return { failure };
  } finally {
    questions?.(false);
    release();
  }
}

/**
 * The call was stopped, and the server was told. Unless the tool only reads, what it did by then is
 * unknown, so this never settles and the caller treats the call as still running.
 */
function stopped({ spec }: CatalogueTool, signal: AbortSignal): Promise<never> {
  if (spec.effect === 'read') return Promise.reject(signal.reason as Error);
  return new Promise(() => undefined);
}

async function send(
  connection: McpConnection,
  parts: McpCallParts,
  args: JsonObject,
  context: ToolContext,
  resume: CallResume | undefined,
): Promise<Omit<Answer, 'asked'>> {
  const { tool, call, redactor } = parts;
  const timeout = tool.spec.timeoutMs + SPARE_MS;
  const options: McpRequestOptions = {
    signal: context.signal,
    timeout,
    maxTotalTimeout: timeout,
    resetTimeoutOnProgress: true,
    ...(call.onProgress === undefined ? undefined : { onprogress: reportProgress(call, redactor) }),
  };
  const own = ownRun(tool.tool);
  if (own !== undefined) return { answer: {}, reading: await own(connection, args, options) };
  const _meta = {
    'io.everloop/idempotency-key': context.idempotencyKey,
    ...(call.traceparent === undefined ? undefined : { traceparent: call.traceparent }),
  };
  const goingOn = resume === undefined ? undefined : resumeParams(resume);
  const params = { name: tool.tool, arguments: args, ...goingOn, _meta };
  const headers = connection.isModern ? paramHeaders(tool.spec.parameters, args) : {};
  return { answer: await connection.request('tools/call', params, { ...options, headers }) };
}

function reportProgress(
  { onProgress }: McpCall,
  { exact }: Redactor,
): NonNullable<McpRequestOptions['onprogress']> {
  let last = -Infinity;
  return ({ progress, total, message }) => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    onProgress?.({
      progress,
      ...(total === undefined ? undefined : { total }),
      ...(message === undefined
        ? undefined
        : { message: visibleText(exact(message), MAX_PROGRESS).text }),
    });
  };
}

/** The error by which the caller learns of a failure. */
function thrown({ server, redactor }: McpCallParts, { kind, message }: McpFailure): Error {
  const text = redactor.failure(message);
  switch (kind) {
    case 'refused':
      return new ToolError(`the server ${server.name} refused the credentials of this worker`);
    case 'not_sent': {
      const what = `MCP server ${server.name}`;
      return new NotSentError(`the server ${server.name} could not be reached: ${text}`, what);
    }
    case 'busy':
      return new NotSentError(`the server ${server.name} could not be reached: ${text}`);
    case 'lost':
      return new LostIsolateError(`the server ${server.name} gave no answer: ${text}`, true);
    case 'final':
      return new ToolError(`the server ${server.name} failed: ${text}`);
    default:
      return new Error(text);
  }
}

/** What a tool returns for `reading`. */
function returned(
  { server, tool, redactor, call }: McpCallParts,
  reading: CallReading,
  asked: readonly string[],
  context: ToolContext,
): unknown {
  for (const text of reading.forUser.slice(0, MAX_FOR_USER)) {
    const visible = visibleText(redactor.exact(text), MAX_FOR_USER_BYTES).text;
    const shown = firstBytes(visible, MAX_FOR_USER_BYTES);
    context.emit('mcp:for_user', { server: server.name, tool: tool.tool, text: shown });
  }
  const note =
    asked.length === 0 ? undefined : askedNote(asked.map(redactor.exact), call.asksUser === true);
  if (reading.kind === 'error') {
    const text = note === undefined ? reading.message : `${reading.message}\n${note}`;
    throw new ToolError(firstBytes(redactor.exact(text), 2_000));
  }
  const { output, media } = reading;
  const shown = output === undefined ? undefined : hideIn(output, redactor.exact);
  if (media.length === 0 && note === undefined) return shown;
  return toolResult({
    ...(shown === undefined ? undefined : { output: shown }),
    media,
    ...(note === undefined ? undefined : { instructions: note }),
  });
}

function askedNote(asked: readonly string[], canAsk: boolean): string {
  const shown = asked.filter((question) => question !== '');
  if (shown.length === 0) return 'The server asked something.';
  const questions = shown.map((question) => visibleText(question, MAX_PROGRESS).text).join(' ');
  const advice = canAsk ? ' Ask with ask_user and call again.' : '';
  return `The server asked: ${questions}${advice}`;
}

/** Waits, until `signal` is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
