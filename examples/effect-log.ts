/**
 * A small append-only log of effects: what the tools of an example have done to their world. The
 * state of a scenario is its seed with the effects applied in order, so a worker that replaces
 * a killed one sees what happened before, and a test sees how often each effect happened.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Something that a `once` tool did, or began to do. */
export interface Effect<Change> {
  /** The idempotency key of the call. */
  readonly key: string;
  readonly tool: string;
  /** `begun` when the tool was entered, `done` with the change when it took effect. */
  readonly step: 'begun' | 'done';
  readonly change?: Change;
}

/** Where effects are kept. */
export interface EffectLog<Change> {
  append(effect: Effect<Change>): void;
  /** All effects so far, oldest first. */
  read(): readonly Effect<Change>[];
}

/** Effects in memory, gone with the process. */
export function memoryLog<Change>(): EffectLog<Change> {
  const effects: Effect<Change>[] = [];
  return { append: (effect) => void effects.push(effect), read: () => [...effects] };
}

/**
 * Effects in a file, a line of JSON each. Several processes may append: a line is written by one
 * call, which a killed process has either made or not.
 */
export function fileLog<Change>(path: string): EffectLog<Change> {
  return {
    append: (effect) => appendFileSync(path, `${JSON.stringify(effect)}\n`),
    read: () => {
      if (!existsSync(path)) return [];
      const lines = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      // Written by `append` above, so the lines are what the type says.
      return lines.map((line) => JSON.parse(line) as Effect<Change>);
    },
  };
}

/** The changes that took effect, in order. */
export function changesOf<Change>(log: EffectLog<Change>): readonly Change[] {
  return log.read().flatMap(({ change }) => (change === undefined ? [] : [change]));
}

/** The keys of calls that were begun more than once: a `once` tool has none, ever. */
export function repeatedKeys(log: EffectLog<unknown>): readonly string[] {
  const begun = log.read().flatMap(({ step, key }) => (step === 'begun' ? [key] : []));
  return [...new Set(begun.filter((key, index) => begun.indexOf(key) < index))];
}
