/** Transcripts with replies of any mix of providers, as their adapters give them. */
import fc from 'fast-check';
import type { JsonObject } from '../../../src/core/base/json.ts';
import {
  textMessage,
  type Author,
  type Message,
  type Part,
  type ToolCallPart,
} from '../../../src/core/base/message.ts';

type Family = 'anthropic' | 'google' | 'responses' | 'chat' | 'function';

/** A model that writes replies; a function has no author. */
export interface Writer {
  readonly family: Family;
  readonly by?: Author;
  /** Whether it writes thoughts. */
  readonly reasons?: true;
}

/** The models that write. */
export const WRITERS: readonly Writer[] = [
  { family: 'anthropic', by: authorOf('anthropic.messages', 'claude-sonnet-4-5'), reasons: true },
  { family: 'anthropic', by: authorOf('anthropic.messages', 'claude-3-haiku') },
  { family: 'google', by: authorOf('google.generative-ai', 'gemini-3-pro-preview'), reasons: true },
  { family: 'google', by: authorOf('google.generative-ai', 'gemini-2.5-pro'), reasons: true },
  { family: 'responses', by: authorOf('openai.responses', 'gpt-5'), reasons: true },
  { family: 'responses', by: authorOf('openai.responses', 'gpt-4o') },
  { family: 'chat', by: authorOf('openai.chat', 'gpt-5') },
  { family: 'chat', by: authorOf('mock.chat', 'deepseek-chat'), reasons: true },
  { family: 'chat', by: authorOf('mock.chat', 'mistral-large'), reasons: true },
  { family: 'chat', by: authorOf('mock.chat', 'test-model'), reasons: true },
  { family: 'function', reasons: true },
];

function authorOf(provider: string, model: string): Author {
  return { provider, model };
}

const ITEMS = [
  'thought',
  'text',
  'blank',
  'call',
  'hosted',
  'half',
  'file',
  'custom',
  'source',
] as const;
const SAID = ['text', 'blank', 'image', 'url', 'sound', 'system'] as const;
const RESULTS = ['text', 'blank', 'image', 'error'] as const;

type Item = (typeof ITEMS)[number];

interface Step {
  readonly writer: Writer;
  readonly items: readonly Item[];
  readonly ids: number;
  readonly results: readonly (typeof RESULTS)[number][];
  readonly said: readonly (typeof SAID)[number][];
}

/** What `writers` wrote, with words of people and results between, each call with its result. */
export function transcripts(
  writers: readonly Writer[] = WRITERS,
  items: readonly Item[] = ITEMS,
): fc.Arbitrary<readonly Message[]> {
  const step: fc.Arbitrary<Step> = fc.record({
    writer: fc.constantFrom(...writers),
    items: fc.array(fc.constantFrom(...items), { minLength: 1, maxLength: 6 }),
    ids: fc.nat({ max: ID_FORMS.length - 1 }),
    results: fc.array(fc.constantFrom(...RESULTS), { minLength: 6, maxLength: 6 }),
    said: fc.array(fc.constantFrom(...SAID), { maxLength: 2 }),
  });
  return fc
    .record({
      hasSystem: fc.boolean(),
      first: fc.array(fc.constantFrom(...SAID), { maxLength: 2 }),
      steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    })
    .map(({ hasSystem, first, steps }) => [
      ...(hasSystem ? [textMessage('system', 'Be brief.')] : []),
      ...first.map(saidMessage),
      ...steps.flatMap(stepMessages),
    ]);
}

/** Ids of calls as providers and servers give them. */
const ID_FORMS: readonly ((step: number, call: number) => string | undefined)[] = [
  (step, call) => `toolu_0${step}${call}`,
  (_step, call) => `call_${call}`,
  (_step, call) => `functions.look:${call}`,
  (step, call) => `${'x'.repeat(94)}${step}${call}`,
  (step, call) => `abcdefg${step}${call}`,
  () => undefined,
  () => 'same',
];

function saidMessage(kind: (typeof SAID)[number]): Message {
  const media = { type: 'media', mediaType: 'image/png' } as const;
  switch (kind) {
    case 'text':
      return textMessage('user', 'Go.');
    case 'blank':
      return textMessage('user', ' \n');
    case 'system':
      return textMessage('system', 'Mind the budget.');
    case 'image':
      return { role: 'user', parts: [{ ...media, data: 'iVBORw0KGgo=' }] };
    case 'url':
      return { role: 'user', parts: [{ ...media, url: 'https://a.example/a.png' }] };
    case 'sound':
      return { role: 'user', parts: [{ ...media, mediaType: 'audio/x-odd', data: 'AAAA' }] };
  }
}

function stepMessages(step: Step, index: number): readonly Message[] {
  const { writer, results, said } = step;
  const parts = partsOf(step, index + 1);
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool_call');
  const by = writer.by === undefined ? {} : { by: writer.by };
  return [
    { role: 'assistant', parts, ...by },
    ...(calls.length === 0
      ? []
      : [{ role: 'tool' as const, parts: calls.map((call, at) => resultOf(call, results[at])) }]),
    ...said.map(saidMessage),
  ];
}

function resultOf({ callId, tool }: ToolCallPart, kind: Step['results'][number] = 'text'): Part {
  const image: Part = { type: 'media', mediaType: 'image/png', data: 'iVBORw0KGgo=' };
  const text: Part = { type: 'text', text: kind === 'blank' ? '\n' : 'Rain.' };
  const parts = kind === 'image' ? [text, image] : [text];
  return { type: 'tool_result', callId, tool, parts, isError: kind === 'error' };
}

function partsOf({ writer, items, ids }: Step, step: number): readonly Part[] {
  const { family } = writer;
  const parts: Part[] = [];
  let calls = 0;
  let thought: string | undefined;
  for (const [index, given] of items.entries()) {
    const item = given === 'thought' && writer.reasons !== true ? 'text' : given;
    const name = `${step}${index}`;
    if (item === 'thought') thought = `rs_${name}`;
    const id = calls;
    if (item === 'call') calls += 1;
    parts.push(...partOf(item, { family, name, step, call: id, ids, thought }));
  }
  return parts;
}

interface Place {
  readonly family: Family;
  readonly name: string;
  readonly step: number;
  readonly call: number;
  readonly ids: number;
  /** The reasoning before it. */
  readonly thought: string | undefined;
}

function partOf(item: Item, place: Place): readonly Part[] {
  const { family, name, step, call, ids } = place;
  switch (item) {
    case 'thought':
      return [{ type: 'reasoning', text: `thought of ${name}`, ...dataOf(item, place) }];
    case 'text':
    case 'blank':
      return [{ type: 'text', text: item === 'text' ? 'I look.' : '\n\n', ...dataOf(item, place) }];
    case 'call': {
      const id = ID_FORMS[ids]?.(step, call);
      const { providerData: data } = dataOf(item, place);
      const providerData = {
        ...(id === undefined ? {} : { id }),
        ...(data === undefined ? {} : { data }),
      };
      const callId = `${step}.${call + 1}`;
      return [{ type: 'tool_call', callId, tool: 'look', args: { city: 'Oslo' }, providerData }];
    }
    case 'hosted':
    case 'half': {
      if (family !== 'anthropic' && family !== 'responses') return [];
      const id = family === 'anthropic' ? `srvtoolu_${name}` : `ws_${name}`;
      const tool = 'web_search';
      const page = {
        type: 'web_search_result',
        url: 'https://a.example',
        title: 'A',
        pageAge: null,
      };
      const output = family === 'anthropic' ? [{ ...page, encryptedContent: 'x' }] : {};
      const both = [
        { type: 'hosted_call', id, tool, args: { query: 'rain' } },
        { type: 'hosted_result', id, tool, output, isError: false },
      ] as const;
      // Replies are cut, and summaries take the place of some: each may be left alone.
      return item === 'hosted' ? both : [both[step % 2 === 0 ? 0 : 1]];
    }
    case 'file':
      return [{ type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' }];
    case 'custom':
      return family === 'responses' ? [{ type: 'custom', kind: 'acme.note' }] : [];
    case 'source':
      return [{ type: 'source', id: name, url: 'https://a.example' }];
  }
}

/** What the adapter of `family` keeps for the provider; ids of Responses say which thought led to it. */
function dataOf(item: Item, { family, name, thought }: Place): { providerData?: JsonObject } {
  const signed = { thoughtSignature: `google:${name}` };
  switch (family) {
    case 'anthropic':
      if (item !== 'thought') return {};
      return name.endsWith('3')
        ? { providerData: { anthropic: { redactedData: 'anthropic:x' } } }
        : { providerData: { anthropic: { signature: 'anthropic:x' } } };
    case 'google':
      return item === 'text' ? {} : { providerData: { google: signed } };
    case 'responses': {
      const prefix = { thought: 'rs', call: 'fc' }[item as string] ?? 'msg';
      const after = thought === undefined ? '' : `_of_${thought}`;
      if (item !== 'thought') {
        return { providerData: { openai: { itemId: `${prefix}_${name}${after}` } } };
      }
      const reasoningEncryptedContent = 'openai:x';
      return { providerData: { openai: { itemId: `rs_${name}`, reasoningEncryptedContent } } };
    }
    case 'chat':
    case 'function':
      return {};
  }
}
