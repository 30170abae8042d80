/**
 * The tools of the matrix, one for each class of effect, and the count of what they did. Each writes
 * a line when its code begins and one when it has acted, in a file outside of any run.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';

/** How often a tool may run, as it says itself. */
export type EffectClass = 'read' | 'idempotent' | 'once';

/** A number for each class. */
export type ByClass = Readonly<Record<EffectClass, number>>;

interface EffectLine {
  readonly effect: EffectClass;
  /** `{runId}/{callId}`. */
  readonly key: string;
  /** What is done; the same in a repeated call. */
  readonly what: string;
  readonly step: 'begun' | 'done';
}

/** What happened beside the one time that each call was asked for. */
export interface Repeats {
  /** How often code of a tool began again for a call that it had begun before. */
  readonly again: ByClass;
  /**
   * What the receiver got twice. A receiver of idempotent writes drops a key that it has seen, so
   * there this counts second keys. A read has no effect.
   */
  readonly twice: Omit<ByClass, 'read'>;
}

/** How long a tool takes, in ms: long enough for a kill to come in its middle. */
const TOOL_MS = 10;

/** The first results of a run are larger than what stays in a history beside which there are blobs. */
const LARGE_UP_TO = 1;

/** `look` reads, `put` is idempotent, `pay` is `once`; `approved`: a person approves a payment. */
export function effectTools(
  folder: string,
  options: { readonly approved?: boolean; readonly toolMs?: number } = {},
): readonly ToolDefinition[] {
  const tool = (name: string, effect: EffectClass): ToolDefinition =>
    defineTool({
      name,
      description: `Does ${name}.`,
      parameters: z.object({ n: z.int() }),
      effect,
      ...(options.approved === true && effect === 'once' ? { approval: 'always' as const } : {}),
      execute: async ({ n }, { idempotencyKey: key, signal }) => {
        const note = (step: EffectLine['step']): void => {
          const line: EffectLine = { effect, key, what: `${name} ${n}`, step };
          appendFileSync(fileIn(folder), `${JSON.stringify(line)}\n`);
        };
        note('begun');
        await sleep(options.toolMs ?? TOOL_MS, undefined, { signal });
        note('done');
        return `${name} ${n} done${n <= LARGE_UP_TO ? ' and more'.repeat(600) : ''}`;
      },
    }) as ToolDefinition;
  return [tool('look', 'read'), tool('put', 'idempotent'), tool('pay', 'once')];
}

/** Whether any tool has noted something in `folder`. */
export function hasEffects(folder: string): boolean {
  return linesIn(folder).length > 0;
}

/** Counts the lines of `folder`. */
export function repeatsIn(folder: string): Repeats {
  const begun = linesIn(folder).filter(({ step }) => step === 'begun');
  const asked = new Map<string, EffectLine[]>();
  for (const line of begun) {
    const name = `${line.key.split('/')[0]} ${line.what}`;
    asked.set(name, [...(asked.get(name) ?? []), line]);
  }
  const again = { read: 0, idempotent: 0, once: 0 };
  const twice = { idempotent: 0, once: 0 };
  for (const lines of asked.values()) {
    const [{ effect } = { effect: 'read' as const }] = lines;
    again[effect] += lines.length - 1;
    if (effect === 'once') twice.once += lines.length - 1;
    else if (effect === 'idempotent')
      twice[effect] += new Set(lines.map(({ key }) => key)).size - 1;
  }
  return { again, twice };
}

function linesIn(folder: string): readonly EffectLine[] {
  const file = fileIn(folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as EffectLine);
}

function fileIn(folder: string): string {
  return join(folder, 'effects.jsonl');
}
