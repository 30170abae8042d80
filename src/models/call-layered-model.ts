/** One model call through the middleware of its agent. */
import { defined } from '../core/base/defined.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import type { EstimatedUsage, ModelRequest, Reply, TokenUsage } from '../core/contract/model.ts';
import { addEstimates } from '../core/model/estimated-usage.ts';
import { readReply } from '../core/model/read-reply.ts';
import { addUsage, checkedUsage, noUsage } from '../core/model/usage.ts';
import { layered, type ModelMiddleware } from '../define/definition/middleware.ts';
import { callEntry, type CallIo, type UnfailedEnd } from './model-adapter.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { attempt } from '../tools/attempt.ts';
import { classifyModelError, ModelCallError } from './model-failures.ts';

/**
 * Like `callEntry`, through the middleware `around`. A middleware may call the model several times
 * or not at all; the result has the usage of all calls. After an abort, a middleware that does not
 * return within a few seconds is left behind.
 */
export async function callLayeredModel(
  around: ModelLayers,
  entry: CalledEntry,
  request: ModelRequest,
  io: CallIo,
): Promise<UnfailedEnd> {
  const outcome =
    around.layers.length === 0
      ? await callEntry(entry, request, io)
      : await callThrough(around, entry, request, io);
  if (outcome.kind === 'aborted') return outcome;
  const { notOffered = [], prepared } = request;
  const all = [...notOffered, ...(outcome.reply.notOffered ?? [])];
  const hidden = all.length === 0 ? undefined : all;
  return {
    kind: 'reply',
    reply: { ...outcome.reply, ...defined({ notOffered: hidden, prepared }) },
  };
}

/** The middleware of an agent, and what it may know of the run. */
export interface ModelLayers {
  readonly layers: readonly ModelMiddleware[];
  readonly info: RunInfo;
}

async function callThrough(
  { layers, info }: ModelLayers,
  entry: CalledEntry,
  request: ModelRequest,
  io: CallIo,
): Promise<UnfailedEnd> {
  const spent: Spent = { usage: noUsage, isKnown: true, calls: 0, unreported: undefined };
  const aborted = (): UnfailedEnd => ({
    kind: 'aborted',
    usage: spent.usage,
    usageKnown: spent.isKnown && spent.calls > 0,
  });
  const add = (usage: TokenUsage, isKnown: boolean): void => {
    spent.usage = addUsage(spent.usage, usage);
    spent.isKnown &&= isKnown;
    spent.calls += 1;
  };
  const ask = async (changed: ModelRequest): Promise<Reply> => {
    let outcome: UnfailedEnd;
    try {
      outcome = await callEntry(entry, changed, io);
    } catch (error) {
      const { usage, estimated } = classifyModelError(error);
      add(usage ?? noUsage, usage !== undefined);
      spent.unreported = addEstimates(spent.unreported, estimated);
      throw error;
    }
    if (outcome.kind === 'aborted') {
      add(outcome.usage, outcome.usageKnown);
      throw new Error('The model call was aborted.');
    }
    add(outcome.reply.usage, outcome.reply.usageKnown);
    spent.unreported = addEstimates(spent.unreported, outcome.reply.unreported);
    return withNotOffered(outcome.reply, request, changed);
  };
  const asked = layered(layers, ask, info);
  const ended = await attempt(() => asked(request), { signal: io.signal });
  if (io.signal.aborted) return aborted();
  try {
    if (ended.kind === 'threw') throw ended.error;
    const reply = readEnd(ended.kind === 'returned' ? ended.value : undefined, entry);
    if (spent.calls === 0) return { kind: 'reply', reply: withCheckedUsage(reply) };
    const { usage, isKnown: usageKnown, unreported } = spent;
    return { kind: 'reply', reply: { ...reply, ...defined({ usage, usageKnown, unreported }) } };
  } catch (error) {
    if (spent.calls === 0) throw error;
    const { usage, unreported: estimated } = spent;
    throw new ModelCallError(causeOf(error), { usage, ...defined({ estimated }) });
  }
}

/** What all calls of a chain of middleware have used. */
interface Spent {
  usage: TokenUsage;
  isKnown: boolean;
  calls: number;
  unreported: EstimatedUsage | undefined;
}

/** A call of a tool that a middleware left out of the request does not run, and the model is told. */
function withNotOffered(reply: Reply, whole: ModelRequest, sent: ModelRequest): Reply {
  const offered = namesIn(sent);
  const notOffered = namesIn(whole).filter((name) => !offered.includes(name));
  return notOffered.length === 0 ? reply : { ...reply, notOffered };
}

function namesIn({ tools = [] }: ModelRequest): readonly string[] {
  return tools.map(({ name }) => name);
}

/** What `next` gave, or a reply in any form that a model function may return. */
function readEnd(value: unknown, entry: CalledEntry): Reply {
  const { parts, usage } = Object(value) as { readonly parts?: unknown; readonly usage?: unknown };
  return Array.isArray(parts) && usage !== undefined ? (value as Reply) : readReply(value, entry);
}

/** A reply that a middleware wrote without a model: its usage is the middleware's word. */
function withCheckedUsage(reply: Reply): Reply {
  const { usage, problem: usageProblem } = checkedUsage(reply.usage);
  const usageKnown = usageProblem === undefined && reply.usageKnown;
  return { ...reply, usage, usageKnown, ...defined({ usageProblem }) };
}

/** The failure without its usage, which is wrapped around it only once. */
function causeOf(error: unknown): unknown {
  return error instanceof ModelCallError ? error.cause : error;
}
