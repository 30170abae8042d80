/** Reads the part of a start that makes it a fork: any client may have written it. */
import { defined } from '../base/defined.ts';
import { idProblem } from '../base/ids.ts';
import { byteSize, isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import {
  FORK_EFFECTS,
  type ForkEdit,
  type ForkEffects,
  type ForkInput,
  type RunMoment,
} from '../base/fork.ts';
import { shown } from '../text/shown.ts';

/** Bytes of JSON of the reference and the edits: history keeps it, and a fork is never a state. */
const MAX_FORK_BYTES = 65_536;

/** A fork as it was asked for, or what is wrong with it. */
export type ReadFork =
  | { readonly kind: 'fork'; readonly fork: ForkInput }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Reads `value`; fields that it does not know are left out. */
export function readFork(value: unknown): ReadFork {
  if (!isPlainObject(value) || isDeeperThan(value, MAX_JSON_DEPTH)) {
    return problems([`Expected \`fork\` to be { source, at }, got ${shown(value)}. Name a run.`]);
  }
  const bytes = byteSize(value as Json);
  if (bytes > MAX_FORK_BYTES) {
    const message = `Expected a fork of at most ${MAX_FORK_BYTES} bytes, got ${bytes}. Shorten its edits.`;
    return problems([message]);
  }
  const { source, at, edits = [], definition, instructions, effects, stats } = value;
  const found = [
    ...sourceProblems(source),
    ...(isMoment(at) ? [] : [momentText(at)]),
    ...editProblems(edits),
    ...choiceProblems('definition', definition, ['recorded', 'current']),
    ...(instructions === undefined || typeof instructions === 'string'
      ? []
      : [`Expected \`instructions\` to be text, got ${shown(instructions)}. Change it.`]),
    ...choiceProblems('effects', effects, FORK_EFFECTS),
    ...choiceProblems('stats', stats, ['fresh', 'keep']),
  ];
  if (found.length > 0) return problems(found);
  const { workflowId, executionId } = source as ForkInput['source'];
  return {
    kind: 'fork',
    fork: {
      source: { workflowId, ...defined({ executionId }) },
      at: at as RunMoment,
      edits: edits as readonly ForkEdit[],
      ...defined({
        definition: definition as ForkInput['definition'],
        instructions: instructions as string | undefined,
        effects: effects as ForkEffects | undefined,
        stats: stats as ForkInput['stats'],
      }),
    },
  };
}

function problems(found: readonly string[]): ReadFork {
  return { kind: 'problems', problems: found };
}

function isId(value: unknown): boolean {
  return idProblem(value) === undefined;
}

function sourceProblems(source: unknown): readonly string[] {
  const hasId = isPlainObject(source) && isId(source['workflowId']);
  const link: unknown = isPlainObject(source) ? source['executionId'] : undefined;
  if (hasId && (link === undefined || isId(link))) return [];
  return [`Expected the source of a fork to be the id of a run, got ${shown(source)}. Name one.`];
}

/** Whether `value` is a moment. */
export function isMoment(value: unknown): value is RunMoment {
  if (value === 'start' || value === 'latest') return true;
  if (!isPlainObject(value) || Object.keys(value).length !== 1) return false;
  const { iteration, event } = value;
  const number = iteration ?? event;
  return Number.isSafeInteger(number) && (number as number) >= 1;
}

/** What is wrong with a moment. */
export function momentText(value: unknown): string {
  return `Expected \`at\` to be { iteration } or { event } from 1 up, 'start' or 'latest', got ${shown(value)}. Choose a moment.`;
}

function editProblems(edits: unknown): readonly string[] {
  if (!Array.isArray(edits)) {
    return [`Expected \`edits\` to be a list, got ${shown(edits)}. Write it as [{ entry, text }].`];
  }
  return (edits as readonly unknown[]).flatMap((edit, index) =>
    isEdit(edit)
      ? []
      : [
          `Expected edit ${index + 1} to be { entry, text }, { drop } or { append }, got ${shown(edit)}. Change it.`,
        ],
  );
}

function isEdit(edit: unknown): edit is ForkEdit {
  if (!isPlainObject(edit)) return false;
  const { entry, text, drop, append } = edit;
  const names = Object.keys(edit).toSorted().join();
  if (names === 'append') return typeof append === 'string' && append.trim() !== '';
  if (names === 'drop') return Number.isSafeInteger(drop);
  return names === 'entry,text' && Number.isSafeInteger(entry) && typeof text === 'string';
}

function choiceProblems(
  name: string,
  value: unknown,
  choices: readonly string[],
): readonly string[] {
  if (value === undefined || choices.includes(value as string)) return [];
  return [
    `Expected \`${name}\` to be one of ${choices.join(', ')}, got ${shown(value)}. Change it.`,
  ];
}
