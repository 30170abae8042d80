/**
 * Turns the updates and events of a run into chunks of one message. Pure.
 *
 * I1  A part that begins also ends, and a tool has its input before its output.
 * I2  What was sent cannot be taken back. Text that another attempt made void, or that is not the
 *     answer, is marked as such, and the right text follows as another part.
 */
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import type { Step, StepSource } from '../core/contract/step.ts';
import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import type { RunUpdate } from '../client/follow-run.ts';
import type { UIChunk } from './ui-chunk.ts';

/** Where a message begins within its run. */
export interface MessagePlace {
  readonly messageId: string;
  /** The iteration whose text comes before the message; 0 for the first message of a run. */
  readonly afterIteration: number;
  /** Ids of the calls that the page already has in this message. */
  readonly knownCalls: readonly string[];
  /** Whether the text of replies is shown as it is written. */
  readonly showsText: boolean;
}

/** The chunks of one message. */
export interface UIWriter {
  readonly begin: () => readonly UIChunk[];
  /** What happened before: the events, and the text of complete iterations. */
  readonly replay: (entries: readonly Entry[], events: readonly AgentEvent[]) => readonly UIChunk[];
  readonly event: (event: AgentEvent) => readonly UIChunk[];
  readonly update: (update: RunUpdate) => readonly UIChunk[];
  /** Ends the message, because the run waits for a person. */
  readonly pause: () => readonly UIChunk[];
  /** Whether a person has to do something before the run continues. */
  readonly waitsForPerson: () => boolean;
  /** The newest iteration of which an event or text has come. */
  readonly iteration: () => number;
}

/** A writer for the message at `place`. */
export function createUIWriter(place: MessagePlace): UIWriter {
  const out: UIChunk[] = [];
  const taken = (): readonly UIChunk[] => out.splice(0);
  const text = createTextParts(out);
  const called = new Set(place.knownCalls);
  const named = new Set<string>();
  const waiting = new Map<string, PendingItem>();
  let state = '';
  /** Iterations up to this one have been shown from the transcript. */
  let shownUpTo = place.afterIteration;
  let newest = place.afterIteration;

  const call = ({ callId: toolCallId, tool: toolName, args: input, mcp }: ShownCall): void => {
    if (called.has(toolCallId)) return;
    called.add(toolCallId);
    text.close();
    out.push({ type: 'tool-input-available', toolCallId, toolName, input, ...kindOf(mcp) });
  };
  const takeEvent = (event: AgentEvent): void => {
    newest = Math.max(newest, event.iteration);
    if (event.type === 'agent:model_call:after') {
      const added = (event.sources ?? []).map(sourceOf);
      out.push(...added.filter(({ sourceId }) => !named.has(sourceId)));
      for (const { sourceId } of added) named.add(sourceId);
    }
    if (event.type === 'agent:tool_call:before' && event.tool !== ASK_TOOL) {
      text.toIteration(event.iteration);
      call(event);
    }
    if (event.type === 'agent:tool_call:after' && event.tool !== ASK_TOOL) {
      text.toIteration(event.iteration);
      call(event);
      out.push(outputOf(event));
    }
  };
  const takePending = (item: PendingItem): void => {
    waiting.set(item.id, item);
    if (item.kind === 'question') {
      text.close();
      out.push({ type: 'data-question', id: item.id, data: questionOf(item, false) });
    }
    if (item.kind === 'approval' && item.run === undefined) {
      call({ callId: item.id, tool: item.tool, args: item.args, mcp: item.server });
      out.push({ type: 'tool-approval-request', approvalId: item.id, toolCallId: item.id });
    }
  };
  const takeSettled = (id: string): void => {
    const item = waiting.get(id);
    waiting.delete(id);
    if (item?.kind !== 'question') return;
    out.push({ type: 'data-question', id, data: questionOf(item, true) });
  };
  const end = (step: Step): void => {
    const answer = typeof step.value === 'string' ? step.value : JSON.stringify(step.value);
    if (step.status === 'success' && text.written().trim() !== answer.trim()) {
      text.discard();
      text.write('text', answer);
    }
    text.finish();
    const { status, reason, trace } = step;
    const metadata = { everloop: { run: trace.workflowId, status, reason } };
    if (step.status === 'canceled') out.push(defined({ type: 'abort', reason: step.message }));
    else if (step.status !== 'success') {
      out.push({ type: 'error', errorText: step.message ?? step.reason });
    }
    const finishReason = step.status === 'success' ? 'stop' : 'error';
    out.push({ type: 'finish', finishReason, messageMetadata: metadata });
  };
  return {
    begin: () => [{ type: 'start', messageId: place.messageId }],
    replay: (entries, events) => {
      const texts = textsOf(entries, place);
      const showUpTo = (iteration: number): void => {
        for (const [at, said] of texts) {
          if (at > iteration) break;
          text.toIteration(at);
          text.write('text', said);
          texts.delete(at);
        }
      };
      for (const event of events) {
        showUpTo(event.iteration);
        takeEvent(event);
      }
      showUpTo(Infinity);
      shownUpTo = Math.max(shownUpTo, ...entries.map(({ iteration }) => iteration));
      return taken();
    },
    event: (event) => {
      takeEvent(event);
      return taken();
    },
    update: (update) => {
      if (update.kind === 'step') end(update.step);
      if (update.kind === 'status') ({ state } = update.status);
      if (update.kind === 'pending') takePending(update.item);
      if (update.kind === 'settled') takeSettled(update.id);
      if (update.kind === 'topic') {
        const { topic, data, callId } = update;
        out.push({ type: 'data-topic', data: defined({ topic, data, callId }), transient: true });
        return taken();
      }
      const isShown = place.showsText && 'iteration' in update && update.iteration > shownUpTo;
      if (isShown) {
        newest = Math.max(newest, update.iteration);
        text.toIteration(update.iteration);
        if (update.kind === 'restart') text.discard();
        else if (update.kind === 'gap') text.write('text', ' […] ');
        else if (update.kind !== 'partial') text.write(update.kind, update.delta);
      }
      return taken();
    },
    pause: () => {
      text.finish();
      out.push({ type: 'finish', finishReason: 'tool-calls' });
      return taken();
    },
    waitsForPerson: () =>
      state === 'waiting' &&
      [...waiting.values()].some(({ kind }) => kind === 'question' || kind === 'approval'),
    iteration: () => newest,
  };
}

/** The text parts of a message, one after another. */
interface TextParts {
  /** Begins a step of the message for each iteration. */
  readonly toIteration: (iteration: number) => void;
  readonly write: (kind: 'text' | 'reasoning', delta: string) => void;
  /** Ends the open part. */
  readonly close: () => void;
  /** Ends the open part and marks it as void. */
  readonly discard: () => void;
  /** Ends the open part and the open step. */
  readonly finish: () => void;
  /** The text of this iteration that is not void. */
  readonly written: () => string;
}

function createTextParts(out: UIChunk[]): TextParts {
  let open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | undefined;
  let current: number | undefined;
  let parts = 0;
  let written = '';
  const close = (isVoid = false): void => {
    if (open === undefined) return;
    const { kind, id } = open;
    const mark = isVoid ? { providerMetadata: { everloop: { void: true as const } } } : {};
    out.push({ type: `${kind}-end`, id, ...mark });
    open = undefined;
  };
  const finish = (): void => {
    close();
    if (current !== undefined) out.push({ type: 'finish-step' });
    current = undefined;
  };
  return {
    toIteration: (iteration) => {
      if (iteration === current) return;
      finish();
      written = '';
      current = iteration;
      out.push({ type: 'start-step' });
    },
    write: (kind, delta) => {
      if (open?.kind !== kind) {
        close();
        parts += 1;
        open = { kind, id: `${parts}` };
        out.push({ type: `${kind}-start`, id: open.id });
      }
      if (kind === 'text') written += delta;
      out.push({ type: `${kind}-delta`, id: open.id, delta });
    },
    close: () => close(),
    discard: () => {
      close(true);
      written = '';
    },
    finish,
    written: () => written,
  };
}

/** What the model wrote in the complete iterations of a message, by iteration. */
function textsOf(
  entries: readonly Entry[],
  { afterIteration, showsText }: MessagePlace,
): Map<number, string> {
  const texts = new Map<number, string>();
  for (const { iteration, origin, messages } of showsText ? entries : []) {
    if (origin !== 'original' || iteration <= afterIteration) continue;
    const parts = messages.flatMap(({ role, parts: all }) => (role === 'assistant' ? all : []));
    const said = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (said !== '') texts.set(iteration, said);
  }
  return texts;
}

/** A call as a page sees it: `mcp` says that its tool is that of a server. */
interface ShownCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly mcp?: unknown;
}

function kindOf(mcp: unknown): { readonly dynamic?: true } {
  return mcp === undefined ? {} : { dynamic: true };
}

function outputOf(event: Extract<AgentEvent, { readonly type: 'agent:tool_call:after' }>): UIChunk {
  const { callId: toolCallId, outcome, output = null, error = outcome, mcp } = event;
  if (outcome === 'ok') {
    return { type: 'tool-output-available', toolCallId, output, ...kindOf(mcp) };
  }
  if (outcome === 'denied') return { type: 'tool-output-denied', toolCallId };
  return { type: 'tool-output-error', toolCallId, errorText: error, ...kindOf(mcp) };
}

/** A source for a page; its address or title is its id. */
function sourceOf({
  url,
  title,
  filename,
  mediaType = 'application/octet-stream',
}: StepSource): Extract<UIChunk, { readonly sourceId: string }> {
  if (url !== undefined) return { type: 'source-url', sourceId: url, url, ...defined({ title }) };
  const name = title ?? filename ?? 'document';
  const shown = { sourceId: name, mediaType, title: name, ...defined({ filename }) };
  return { type: 'source-document', ...shown };
}

/** A question for a page: what to ask, and whether it is still open. */
function questionOf(
  item: Extract<PendingItem, { readonly kind: 'question' }>,
  isAnswered: boolean,
): Json {
  const { id, question, options, free, details, run } = item;
  return defined({
    id,
    question,
    options: options && [...options],
    free,
    details,
    run,
    isAnswered,
  });
}
