/**
 * A request in the dialect of its provider: the schemas of tools and of the answer, and the calls
 * of earlier replies. What the model writes gets its own form back, so that only the provider ever
 * sees the other one.
 */
import { defined } from '../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../core/base/json.ts';
import type { Message, Part } from '../core/base/message.ts';
import type { ModelRequest, ModelTool, NativeCall, Reply } from '../core/contract/model.ts';
import { readJson } from '../core/section/json-reader.ts';
import { nativeName } from '../core/toolchain/native-calls.ts';
import { dialectOf } from '../define/dialect/dialect.ts';
import { wireSchema, type WireSchema } from '../define/dialect/wire-schema.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';

/** A tool as it is sent. */
interface WireTool extends ModelTool {
  /** Whether the provider holds the model to the schema; absent: as the provider does. */
  readonly strict?: boolean;
}

/** A request as it is sent. */
export interface WireRequest extends Omit<ModelRequest, 'tools'> {
  readonly tools?: readonly WireTool[];
  /** Whether the provider holds the model to the schema of the answer. */
  readonly isStrict?: boolean;
  /** Whether the answer has fields of any name, or values of any type. */
  readonly isOpen?: boolean;
}

/** A request in a dialect, and the way back. */
export interface RequestOnWire {
  readonly request: WireRequest;
  /** A call of the reply, in the form of its tool. */
  decodeCall(call: NativeCall): NativeCall;
  /** The whole reply. */
  decode(reply: Reply): Reply;
}

/** `request` as the provider of `model` takes it. */
export function onWire(
  entry: ModelEntry,
  model: LanguageModel,
  request: ModelRequest,
): RequestOnWire {
  const isStrict = entry.strict === true;
  const dialect = dialectOf(model.provider, isStrict);
  const tools = new Map<string, WireSchema>();
  const wireOf = (schema: JsonObject): WireSchema => {
    const wire = wireSchema(schema, dialect);
    // What cannot be strict without a change of meaning is sent as it is.
    return isStrict && wire.problems.length > 0
      ? wireSchema(schema, dialectOf(model.provider, false))
      : wire;
  };
  const wireTools = request.tools?.map((tool): WireTool => {
    if (!isJsonObject(tool.parameters)) return tool;
    const wire = wireOf(tool.parameters);
    tools.set(tool.name, wire);
    const strict = entry.strict && isKept(tool.parameters, model.provider);
    return defined({ ...tool, parameters: wire.schema, strict });
  });
  const answer = isJsonObject(request.schema) ? wireOf(request.schema) : undefined;
  const decodeCall = (call: NativeCall): NativeCall => decoded(call, tools.get(call.tool));
  return {
    request: defined({
      ...request,
      messages: request.messages.map((message) => encoded(message, tools)),
      tools: wireTools,
      schema: answer?.schema,
      isStrict: answer && isStrict && isKept(request.schema as JsonObject, model.provider),
      isOpen: answer && !isKept(request.schema as JsonObject, model.provider),
    }),
    decodeCall,
    decode: (reply) => {
      const parts = reply.parts.map((part) => (part.type === 'call' ? decodeCall(part) : part));
      const isText = answer?.isChanged === true && parts.every(({ type }) => type !== 'call');
      return { ...reply, parts: isText ? decodedText(parts, answer) : parts };
    },
  };
}

function isKept(schema: JsonObject, provider: string): boolean {
  return wireSchema(schema, dialectOf(provider, true)).problems.length === 0;
}

/** A message with its calls in the form of the wire; other messages as they are. */
function encoded(message: Message, tools: ReadonlyMap<string, WireSchema>): Message {
  const wireOf = (part: Part): WireSchema | undefined => {
    const wire = part.type === 'tool_call' ? tools.get(nativeName(part.tool)) : undefined;
    return wire?.isChanged === true ? wire : undefined;
  };
  if (!message.parts.some((part) => wireOf(part) !== undefined)) return message;
  const parts = message.parts.map((part) => {
    const wire = wireOf(part);
    return part.type !== 'tool_call' || wire === undefined
      ? part
      : { ...part, args: wire.encode(part.args) };
  });
  return { ...message, parts };
}

function decoded(call: NativeCall, wire: WireSchema | undefined): NativeCall {
  if (wire?.isChanged !== true) return call;
  if (typeof call.args !== 'string') return { ...call, args: wire.decode(call.args) };
  const reading = readJson(call.args);
  // What cannot be read is told to the model as it wrote it.
  return reading.kind === 'value' ? { ...call, args: wire.decode(reading.value) } : call;
}

/** An answer that came as the text of a reply. */
function decodedText(parts: Reply['parts'], wire: WireSchema): Reply['parts'] {
  const texts = parts.filter((part) => part.type === 'text');
  const reading = readJson(texts.map(({ text }) => text).join(''));
  if (reading.kind === 'problem') return parts;
  const text = JSON.stringify(wire.decode(reading.value));
  if (text === JSON.stringify(reading.value)) return parts;
  return [...parts.filter((part) => part.type !== 'text'), { type: 'text', text }];
}
