/** Every reader of what a model wrote, by name, as functions that must neither throw nor hang. */
import { formatOf } from '../../src/core/format/format-of.ts';
import { readTurn } from '../../src/core/modes/modes.ts';
import type { AgentSpec, FormatSpec, LispSpec, ProgramSpec } from '../../src/core/contract/spec.ts';
import { readJson } from '../../src/core/section/json-reader.ts';
import { payloadOf } from '../../src/core/section/payload.ts';
import { readYaml } from '../../src/core/section/yaml-reader.ts';
import { replyOf } from '../core/runs/reply-fixture.ts';
import { chatSpec, reactSpec } from '../core/runs/spec-fixture.ts';

/** A reader, and how long it may take. */
export interface ReplyReader {
  readonly name: string;
  /** Milliseconds for each 100 KB of text, and for any text at least. */
  readonly maxMsPer100Kb: number;
  readonly read: (text: string) => unknown;
}

const names = ['thinking', 'plan', 'action', 'answer'];

/** Own readers take microseconds; the package `yaml` takes 50 to 300 ms per 100 KB. */
const ownMs = 50;
const yamlMs = 400;

const formats: readonly FormatSpec[] = [
  { kind: 'xml', strict: false },
  { kind: 'xml', strict: true },
  { kind: 'markdown', strict: false },
  { kind: 'markdown', strict: true },
];

/** All readers: formats, payloads, JSON, YAML, and whole turns of react, chat and lisp. */
export const replyReaders: readonly ReplyReader[] = [
  ...formats.flatMap((spec) =>
    [false, true].map((wasCut) => ({
      name: `${spec.kind}${spec.strict ? ', strict' : ''}${wasCut ? ', cut' : ''}`,
      maxMsPer100Kb: ownMs,
      read: (text: string) => formatOf(spec).parse(text, names, { wasCut }),
    })),
  ),
  { name: 'payload', maxMsPer100Kb: ownMs, read: payloadOf },
  { name: 'JSON', maxMsPer100Kb: ownMs, read: readJson },
  {
    name: 'YAML',
    maxMsPer100Kb: yamlMs,
    read: (text) => readYaml(text, { additionalProperties: { type: 'string' } }),
  },
  ...[reactTurns('xml', 'yaml'), reactTurns('markdown', 'json')].map((spec) => ({
    name: `turn of react, ${spec.react?.format.kind}, ${spec.toolchain.kind}`,
    maxMsPer100Kb: spec.toolchain.kind === 'yaml' ? yamlMs : ownMs,
    read: (text: string) => readTurn(spec, replyOf(text), 1),
  })),
  {
    name: 'turn of chat',
    maxMsPer100Kb: ownMs,
    read: (text) =>
      readTurn(chatSpec(), replyOf(text, { calls: [{ tool: 'search', args: text }] }), 1),
  },
  {
    name: 'turn of lisp',
    maxMsPer100Kb: ownMs,
    read: (text) => readTurn(lispSpec('content'), replyOf(text), 1),
  },
  {
    name: 'turn of lisp, native',
    maxMsPer100Kb: ownMs,
    read: (text) =>
      readTurn(
        lispSpec('tool_call'),
        replyOf(text, { calls: [{ tool: 'lisp_eval', args: { program: text } }] }),
        1,
      ),
  },
  {
    name: 'turn of react with programs',
    maxMsPer100Kb: yamlMs,
    read: (text) =>
      readTurn(
        { ...reactTurns('xml', 'yaml'), program: programOptions },
        replyOf(`<program>${text}</program>`),
        1,
      ),
  },
];

const programOptions: ProgramSpec = {
  limits: {},
  memoryLimitBytes: 1_048_576,
  memoryStrategy: 'strict',
  sizes: { feedbackChars: 512, resultChars: 250, sampleItems: 3, sampleChars: 80 },
};

function lispSpec(transport: LispSpec['transport']): AgentSpec {
  const lisp: LispSpec = {
    maxTurns: 5,
    retryTurns: 0,
    completion: 'implicit',
    transport,
    thinking: false,
    plan: [],
    journal: false,
  };
  return chatSpec({ mode: 'lisp', program: { ...programOptions, lisp } });
}

function reactTurns(format: 'xml' | 'markdown', toolchain: 'yaml' | 'json'): AgentSpec {
  const spec = reactSpec({
    toolchain: { kind: toolchain, section: 'action' },
    answer: { kind: 'json', section: 'answer', schema: {}, validators: [] },
  });
  if (spec.react === null) return spec;
  const plan = { name: 'plan', kind: 'json' as const, schema: {} };
  return {
    ...spec,
    react: { ...spec.react, format: { kind: format, strict: false }, sections: [plan] },
  };
}

/**
 * How long reading took, in ms; the fastest of three when the first try was slower than allowed. By the
 * clock on the wall, or of the process when that is less: other work of the machine is no slowness of
 * the reader.
 */
export function timedRead(reader: ReplyReader, text: string): number {
  const limit = limitMs(reader, text);
  let fastest = Infinity;
  for (let tries = 0; tries < 3; tries++) {
    const start = performance.now();
    const before = process.cpuUsage();
    reader.read(text);
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, performance.now() - start, (user + system) / 1_000);
    if (fastest <= limit) break;
  }
  return fastest;
}

/** How long a reader may take for `text`, in ms. */
export function limitMs(reader: ReplyReader, text: string): number {
  return reader.maxMsPer100Kb * Math.max(1, text.length / 100_000);
}
