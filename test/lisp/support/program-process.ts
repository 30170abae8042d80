/**
 * A process that runs programs for its parent: a command as JSON on each line of stdin, its answer
 * as JSON on a line of stdout. With `POISONED=1` everything that could make a program depend on the
 * clock, chance, the locale or the engine's own evaluator throws when it is touched.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import {
  advance,
  restore,
  snapshot,
  type EffectRequest,
  type EffectResult,
  type Machine,
  type MachineSnapshot,
} from '../../../src/lisp.ts';
import { evaluate, type Evaluated } from './evaluate.ts';
import { observe, runProgram, startProgram, type Observed } from './host.ts';

/** What the parent may ask for. */
export type Command =
  | { readonly do: 'evaluate'; readonly source: string }
  | { readonly do: 'run'; readonly source: string }
  /** One `advance`, of a new machine or of one from a snapshot. */
  | { readonly do: 'start'; readonly source: string }
  | {
      readonly do: 'continue';
      readonly saved: string;
      readonly results: readonly EffectResult[];
    };

/** The answer to `run`. */
export interface RunAnswer {
  readonly observed: Observed;
  /** A hash of the text of each snapshot, in order. */
  readonly snapshots: readonly string[];
}

/** The answer to `start` and `continue`: the machine as text, or how it ended. */
export type StepAnswer =
  | {
      readonly kind: 'blocked';
      readonly saved: string;
      readonly requests: readonly EffectRequest[];
      readonly abandon: readonly string[];
    }
  | { readonly kind: 'finished'; readonly observed: Observed };

const NOW = 1_000;

function step(machine: Machine, results: readonly EffectResult[]): StepAnswer {
  const next = advance(machine, { now: NOW, budget: {}, results });
  if (next.kind === 'finished') {
    return { kind: 'finished', observed: observe(next.machine, next.outcome, []) };
  }
  const { requests, abandon } = next;
  return { kind: 'blocked', saved: JSON.stringify(snapshot(next.machine)), requests, abandon };
}

function run(source: string): RunAnswer {
  const snapshots: string[] = [];
  const observed = runProgram(source, {
    snapshots: true,
    onSnapshot: (saved) => {
      snapshots.push(createHash('sha256').update(JSON.stringify(saved)).digest('hex'));
    },
  });
  return { observed, snapshots };
}

function answer(command: Command): Evaluated | RunAnswer | StepAnswer {
  switch (command.do) {
    case 'evaluate':
      return evaluate(command.source);
    case 'run':
      return run(command.source);
    case 'start':
      return step(startProgram(command.source), []);
    case 'continue':
      return step(restore(JSON.parse(command.saved) as MachineSnapshot), command.results);
  }
}

/** Makes every way out of a pure computation throw. */
function poison(): void {
  const refuse = (name: string) => (): never => {
    throw new Error(`A program reached ${name}.`);
  };
  const forbidden = ['Date', 'Intl', 'RegExp', 'Function', 'eval', 'setTimeout', 'setImmediate'];
  for (const name of [...forbidden, 'queueMicrotask', 'performance', 'fetch', 'crypto']) {
    Object.defineProperty(globalThis, name, { get: refuse(name), configurable: true });
  }
  Math.random = refuse('Math.random');
  for (const prototype of [String.prototype, Number.prototype, BigInt.prototype, Array.prototype]) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (!/[lL]ocale/.test(name)) continue;
      Object.defineProperty(prototype, name, { value: refuse(name), configurable: true });
    }
  }
}

const lines = createInterface({ input: process.stdin });
const isPoisoned = process.env['POISONED'] === '1';
if (isPoisoned) poison();
for await (const line of lines) {
  const reply = JSON.stringify(answer(JSON.parse(line) as Command));
  process.stdout.write(`${reply}\n`);
}
