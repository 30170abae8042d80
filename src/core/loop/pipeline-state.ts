/** The state of a pipeline between two stages, and what one stage passes to the next. Pure. */
import { defined } from '../base/defined.ts';
import type { ProgramMemory } from '../../lisp.ts';
import { isPlainObject, type Json, type JsonObject } from '../base/json.ts';
import { textOf, type MediaPart, type Task } from '../base/message.ts';
import type { PassedOn } from '../run/ending.ts';
import { contextOfValue, textsIn } from '../contract/piping.ts';
import type { RunState } from '../run/run-state.ts';
import type { PipelineSpec } from '../contract/spec.ts';
import type { Step } from '../contract/step.ts';

/** The own data of a pipeline's loop, version 1. */
export interface PipelineState {
  readonly v: 1;
  /** Index of the next stage, from 0. */
  readonly stage: number;
  /** The context of the next stage; null if the pipeline was started without one. */
  readonly context: JsonObject | null;
  /** What keys of the context mean. */
  readonly descriptions: { readonly [name: string]: string };
  /** What the last programs left; null if there were none. */
  readonly memory: ProgramMemory | null;
}

/** The result of a stage. */
export interface StageEnd {
  readonly value: Json;
  /** What the Step of the pipeline keeps of it when it is the last. */
  readonly passedOn: PassedOn;
  /** What keys of `value` mean. */
  readonly descriptions: { readonly [name: string]: string };
  /** Null: no programs ran. */
  readonly memory: ProgramMemory | null;
}

/** The pipeline's own state in that of its run; before the first stage, made from the input. */
export function pipelineState({ data, head, program }: RunState): PipelineState {
  if (isPlainObject(data) && data['v'] === 1) return data as unknown as PipelineState;
  return {
    v: 1,
    stage: 0,
    context: head.context ?? null,
    descriptions: head.contextDescriptions ?? {},
    memory: head.spec.pipeline?.memory === 'carry' ? (program?.memory ?? null) : null,
  };
}

/** The state after a stage: its value, with fields renamed, is what the next one works with. */
export function afterStage(
  { map, memory: policy }: PipelineSpec,
  { stage, memory }: PipelineState,
  end: StageEnd,
): PipelineState {
  return {
    v: 1,
    stage: stage + 1,
    context: renamed(map, contextOfValue(end.value)),
    descriptions: renamed(map, end.descriptions),
    memory: policy === 'carry' ? (end.memory ?? memory) : null,
  };
}

/**
 * `fields` under their new names, in their order. A renamed field replaces one that already has its
 * new name.
 */
function renamed<Value>(
  map: PipelineSpec['map'],
  fields: { readonly [name: string]: Value },
): { readonly [name: string]: Value } {
  const isMapped = (name: string): boolean => Object.hasOwn(map, name);
  const taken = new Set(
    Object.keys(fields)
      .filter(isMapped)
      .map((name) => map[name]),
  );
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => isMapped(name) || !taken.has(name))
      .map(([name, value]) => [map[name] ?? name, value]),
  );
}

/** The result of an agent. */
export function endOfAgent(step: Step): StageEnd {
  const { value, mode, signature, fieldDescriptions, memory, notes } = step;
  return {
    value,
    passedOn: { mode, signature, fieldDescriptions, memory, notes },
    descriptions: textsIn(fieldDescriptions),
    memory: memoryOf(step),
  };
}

/** The result of the agents of one stage: their values under their names. */
export function endOfParallel(steps: readonly Step[]): StageEnd {
  const memories = steps.flatMap((step) => memoryOf(step) ?? []);
  return {
    value: Object.fromEntries(steps.map(({ agent, value }) => [agent, value])),
    passedOn: {},
    descriptions: {},
    memory: memories.at(-1) ?? null,
  };
}

/** The answer of a person, added to the values of the stages before. */
export function endOfHuman({ context, descriptions }: PipelineState, answer: Json): StageEnd {
  return {
    value: { ...context, answer },
    passedOn: { fieldDescriptions: descriptions },
    descriptions,
    memory: null,
  };
}

function memoryOf({ memory }: Step): ProgramMemory | null {
  return 'v' in memory ? (memory as ProgramMemory) : null;
}

/** The task of each stage: that of the pipeline, followed by the inputs that came since. */
export function stageTask({ head, scratchpad }: RunState): Task {
  const { text, media = [] } = head.task;
  const inputs = scratchpad
    .filter(({ origin }) => origin === 'input')
    .flatMap(({ messages }) => messages);
  const texts = [text, ...inputs.map(textOf)].filter((part) => part.trim() !== '');
  const sent = inputs
    .flatMap(({ parts }) => parts)
    .filter((part): part is MediaPart => part.type === 'media');
  const all = [...media, ...sent];
  return { text: texts.join('\n\n'), ...defined({ media: all.length === 0 ? undefined : all }) };
}
