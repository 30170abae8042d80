/** A program that answered once and runs again without a model. Pure. */
import { codeId, readProgram, topForms, type TopForm } from '../../lisp.ts';
import type { AgentEvent } from '../contract/events.ts';
import { isStep } from '../contract/piping.ts';
import type { CompiledAgent } from '../contract/input.ts';
import type { Step } from '../contract/step.ts';
import { isJsonObject, isPlainObject } from '../base/json.ts';
import { textOf, type Message } from '../base/message.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Entry } from '../contract/entry.ts';
import { findProgram } from './find-program.ts';
import { readLispCall } from './lisp-call.ts';
import { LISP_TOOL } from './system-text.ts';

/** The text that a compiled agent runs. */
export function compiledText({ definitions, source }: CompiledAgent): string {
  return [...definitions.map((definition) => definition.source), source].join('\n');
}

/** The code id of a compiled agent's text, which changes when the text is changed. */
export function compiledCodeId(compiled: CompiledAgent): string {
  return codeId(compiledText(compiled));
}

/** Whether `value` has the shape of a compiled agent; its parts may still contradict each other. */
export function isCompiled(value: unknown): value is CompiledAgent {
  if (!isPlainObject(value) || isStep(value)) return false;
  const { v, agent, source, codeId: id, tools, definitions } = value;
  return (
    v === 1 &&
    [agent, source, id].every((text) => typeof text === 'string' && text !== '') &&
    Array.isArray(tools) &&
    tools.every((tool) => typeof tool === 'string') &&
    Array.isArray(definitions) &&
    definitions.every((it) => isPlainObject(it) && typeof it['source'] === 'string')
  );
}

/** The records of a successful run. */
export interface CompilingRun {
  readonly step: Step;
  readonly entries: readonly Entry[];
  readonly events: readonly AgentEvent[];
}

/**
 * The program of a run whose answer was accepted, with the definitions that it needs.
 * @throws UsageError `not_compilable` if no program gave the answer, or it uses an earlier value.
 */
export function compiledFrom({ step, entries, events }: CompilingRun): CompiledAgent {
  const { agent, signature, usage } = step;
  const refuse = (got: string, advice: string): UsageError =>
    new UsageError(
      'not_compilable',
      `Expected the answer of \`${agent}\` to be that of its last program, got ${got}. ${advice}`,
    );
  const programs = keptPrograms(entries, events);
  const last = programs.at(-1);
  if (usage.fallbackUsed === true || last === undefined || last.iteration !== step.iterations) {
    throw refuse('another one', 'Let it end with `(return …)`.');
  }
  const earlier = programs.slice(0, -1).flatMap(({ forms }) => forms);
  const definitions = neededForms(last.forms, earlier);
  const all = [...definitions, ...last.forms];
  const ofValues = all.flatMap(({ mentions }) => mentions).find((name) => VALUES.includes(name));
  if (ofValues !== undefined) {
    throw refuse(`one that uses \`${ofValues}\``, 'Let it define what it needs.');
  }
  const kept = definitions.map(({ defines: [name = ''], source }) => ({ name, source }));
  const compiled: CompiledAgent = {
    v: 1,
    agent,
    source: last.source,
    codeId: '',
    signature,
    tools: toolsIn(all),
    definitions: kept,
    model: modelIn(events),
    usage,
  };
  return { ...compiled, codeId: codeId(compiledText(compiled)) };
}

/** Names of the values of earlier programs, which no text of a program contains. */
const VALUES: readonly string[] = ['*1', '*2', '*3'];

interface KeptProgram {
  readonly iteration: number;
  readonly source: string;
  readonly forms: readonly TopForm[];
}

/** The programs whose definitions were kept, in order; an error drops those of its program. */
function keptPrograms(
  entries: readonly Entry[],
  events: readonly AgentEvent[],
): readonly KeptProgram[] {
  const kept = events.flatMap((event) =>
    event.type === 'agent:program:after' && ['value', 'returned'].includes(event.outcome)
      ? [event.iteration]
      : [],
  );
  return entries.flatMap(({ iteration, origin, messages }) => {
    if (origin !== 'original' || !kept.includes(iteration)) return [];
    const source = messages.flatMap(programsIn)[0];
    const read = source === undefined ? undefined : readProgram(source);
    if (source === undefined || read?.ok !== true) return [];
    return [{ iteration, source, forms: topForms(read.program) }];
  });
}

/** The programs that an assistant message may hold, cleaned; the one that ran comes first. */
export function programsIn(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [];
  const called = message.parts.flatMap((part) => {
    if (part.type !== 'tool_call' || part.tool !== LISP_TOOL) return [];
    const read = readLispCall({ args: isJsonObject(part.args) ? part.args : {} });
    return read.kind === 'program' ? [read.source] : [];
  });
  const found = findProgram(textOf(message));
  return [...called, ...(found.kind === 'program' ? [found.source] : [])];
}

/** The forms of `earlier` that `forms` need, directly or not, and do not define themselves. */
function neededForms(forms: readonly TopForm[], earlier: readonly TopForm[]): readonly TopForm[] {
  const own = new Set(forms.flatMap(({ defines }) => defines));
  const wanted = new Set(
    forms.flatMap(({ mentions }) => mentions.filter((name) => !own.has(name))),
  );
  const needed = new Set<TopForm>();
  for (let size = -1; size !== needed.size;) {
    size = needed.size;
    for (const form of earlier.filter(({ defines }) => defines.some((name) => wanted.has(name)))) {
      needed.add(form);
      for (const name of form.mentions) wanted.add(name);
    }
  }
  return earlier.filter((form) => needed.has(form));
}

function toolsIn(forms: readonly TopForm[]): readonly string[] {
  const names = forms.flatMap(({ mentions }) =>
    mentions.flatMap((name) => {
      if (name === 'ask') return ['ask_user'];
      return name.startsWith('tool/') ? [name.slice('tool/'.length).replaceAll('-', '_')] : [];
    }),
  );
  return [...new Set(names)];
}

function modelIn(events: readonly AgentEvent[]): string {
  const asked = events.flatMap((event) =>
    event.type === 'agent:model_call:after' &&
    event.purpose === 'reply' &&
    event.error === undefined
      ? [event.model]
      : [],
  );
  return asked.at(-1) ?? '';
}
