/**
 * Brings old chats along: messages of the AI SDK, those of a page (`UIMessage`) and those of a model
 * (`ModelMessage`), as messages of a conversation. Calls keep their arguments and results.
 */
import { isPlainObject, type Json } from '../../core/base/json.ts';
import type { MediaPart, Message, Part, ToolResultPart } from '../../core/base/message.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Of calls: our ids by those of the messages. */
interface Calls {
  readonly idOf: (id: unknown) => string;
}

/**
 * `messages` as a conversation has them. System messages are left out: the agent has instructions.
 *
 * @throws UsageError `invalid_input` for what is neither.
 */
export function bringAlong(messages: readonly unknown[]): readonly Message[] {
  const known = new Map<unknown, string>();
  const calls: Calls = {
    idOf: (id) => {
      const ours = known.get(id) ?? `0.${known.size + 1}`;
      known.set(id, ours);
      return ours;
    },
  };
  return messages.flatMap((message, index) => {
    if (!isPlainObject(message)) throw invalid(index, message);
    const { role, parts, content } = message;
    if (role === 'system') return [];
    if (role !== 'user' && role !== 'assistant' && role !== 'tool') throw invalid(index, message);
    if (Array.isArray(parts)) return ofPage(role, parts.filter(isPlainObject), calls);
    if (typeof content === 'string') return said(role, [{ type: 'text', text: content }]);
    if (Array.isArray(content)) return ofModel(role, content.filter(isPlainObject), calls);
    throw invalid(index, message);
  });
}

/** A message of a page: its calls have their results with them, which follow as a message. */
function ofPage(role: Message['role'], parts: readonly Fields[], calls: Calls): readonly Message[] {
  const own: Part[] = [];
  const results: ToolResultPart[] = [];
  for (const part of parts) {
    const { type, text, state, input, output, errorText, toolCallId } = part;
    const tool = toolOf(part);
    if (tool === undefined) {
      own.push(...plainPart(type, text), ...mediaOf(part));
      continue;
    }
    if (input === undefined) continue;
    const callId = calls.idOf(toolCallId);
    own.push({ type: 'tool_call', callId, tool, args: input as Json });
    const isError = state === 'output-error';
    if (isError || output !== undefined) {
      results.push(resultOf({ callId, tool }, isError ? errorText : output, isError));
    }
  }
  return [...said(role, own), ...said('tool', results)];
}

function toolOf({ type, toolName }: Fields): string | undefined {
  if (type === 'dynamic-tool') return typeof toolName === 'string' ? toolName : undefined;
  return typeof type === 'string' && type.startsWith('tool-') && !ofModelOnly.has(type)
    ? type.slice('tool-'.length)
    : undefined;
}

const ofModelOnly: ReadonlySet<string> = new Set(['tool-call', 'tool-result', 'tool-error']);

/** A message for a model. */
function ofModel(
  role: Message['role'],
  parts: readonly Fields[],
  calls: Calls,
): readonly Message[] {
  const own = parts.flatMap((part): readonly Part[] => {
    const { type, text, toolCallId, toolName: tool, input, args, output, result } = part;
    if (typeof tool === 'string' && type === 'tool-call') {
      const given = (input ?? args ?? {}) as Json;
      return [{ type: 'tool_call', callId: calls.idOf(toolCallId), tool, args: given }];
    }
    if (typeof tool === 'string' && type === 'tool-result') {
      const call = { callId: calls.idOf(toolCallId), tool };
      const kind = isPlainObject(output) ? String(output['type']) : '';
      return [resultOf(call, output ?? result, kind.startsWith('error'))];
    }
    return [...plainPart(type, text), ...mediaOf(part)];
  });
  return said(role, own);
}

function said(role: Message['role'], parts: readonly Part[]): readonly Message[] {
  return parts.length === 0 ? [] : [{ role, parts }];
}

function plainPart(type: unknown, text: unknown): readonly Part[] {
  if (typeof text !== 'string' || text === '') return [];
  return type === 'text' || type === 'reasoning' ? [{ type, text }] : [];
}

/** A file of a page, or a file or image for a model; its content may be a data URL. */
function mediaOf({ type, mediaType, url, data, image }: Fields): readonly MediaPart[] {
  if (type !== 'file' && type !== 'image') return [];
  const kind = typeof mediaType === 'string' ? mediaType : 'image/*';
  const source = url ?? data ?? image;
  if (source instanceof Uint8Array) {
    return [{ type: 'media', mediaType: kind, data: Buffer.from(source).toString('base64') }];
  }
  const text = source instanceof URL ? source.href : source;
  if (typeof text !== 'string' || text === '') return [];
  const inline = /^data:([^,;]{0,200})[^,]{0,200};base64,/.exec(text);
  if (inline !== null) {
    const mediaOfData = typeof mediaType === 'string' ? kind : inline[1] || kind;
    return [{ type: 'media', mediaType: mediaOfData, data: text.slice(inline[0].length) }];
  }
  return /^https?:/.test(text)
    ? [{ type: 'media', mediaType: kind, url: text }]
    : [{ type: 'media', mediaType: kind, data: text }];
}

function resultOf(
  call: Pick<ToolResultPart, 'callId' | 'tool'>,
  output: unknown,
  isError: boolean,
): ToolResultPart {
  const value =
    isPlainObject(output) && 'value' in output && 'type' in output ? output['value'] : output;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return { type: 'tool_result', ...call, parts: [{ type: 'text', text }], isError };
}

function invalid(index: number, message: unknown): UsageError {
  const what = 'a `UIMessage` or a `ModelMessage` of the AI SDK';
  return new UsageError(
    'invalid_input',
    `Expected \`messages[${index}]\` to be ${what}, got ${shown(message)}. Change it.`,
  );
}
