/** An agent whose model and tools end their worker so many times before they succeed. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolEffect } from '../../src/core/contract/spec.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { actWith, answer } from './runs.ts';

/** What ends workers, and how often. */
export interface Fatal {
  /** Where each try writes a line. */
  readonly folder: string;
  /** Tries of the model call, and of the tool, that end their worker. */
  readonly modelDeaths?: number;
  readonly toolDeaths?: number;
  /** Failures of the provider after those deaths: HTTP 503. */
  readonly failures?: number;
  readonly effect?: ToolEffect;
  /** Ends or blocks the worker; only a process of its own may. Default: nothing. */
  readonly die?: () => void;
}

/** The lines that were written about `what`, in order. */
export function triesOf({ folder }: Fatal, what: string): readonly string[] {
  const file = join(folder, `${what}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Writes a line about `what`; the number of its lines. */
export function noteTry(fatal: Fatal, what: string, line: string): number {
  appendFileSync(join(fatal.folder, `${what}.txt`), `${line}\n`);
  return triesOf(fatal, what).length;
}

/** The model that a payer asks when its own has failed. */
export const SECOND: ModelEntry = { id: 'second', model: async () => answer('by the second') };

/** Pays once, then answers with what the tool gave. */
export function fatalAgent(fatal: Fatal): AgentDefinition {
  const { modelDeaths = 0, toolDeaths = 0, failures = 0, die = () => undefined } = fatal;
  const model: ModelFunction = async ({ iteration, messages }) => {
    if (iteration > 1) {
      const text = messages.map(textOf).join(' ');
      return answer(text.includes('unknown whether') ? 'unknown' : 'paid');
    }
    const tries = noteTry(fatal, 'model', 'asked');
    if (tries <= modelDeaths) die();
    if (tries <= modelDeaths + failures) {
      throw Object.assign(new Error('Overloaded'), { statusCode: 503 });
    }
    return actWith(['pay', 'x']);
  };
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: fatal.effect ?? 'idempotent',
    parameters: z.object({ query: z.string() }),
    execute: async (_args, { idempotencyKey, attempt }) => {
      const tries = noteTry(fatal, 'tool', `${idempotencyKey} ${attempt}`);
      if (tries <= toolDeaths) die();
      return 'paid';
    },
  });
  return defineAgent({
    name: 'payer',
    mode: 'react',
    model: { id: 'first', model, fallbacks: ['second'] },
    tools: [pay],
  });
}

/** Answers after a thought that is longer than a heartbeat. */
export function thinkerAgent(fatal: Fatal): AgentDefinition {
  const model: ModelFunction = async () => {
    noteTry(fatal, 'thinker', 'asked');
    await setTimeout(12_000);
    return answer('thought');
  };
  return defineAgent({
    name: 'thinker',
    mode: 'react',
    model: { id: 'thought', model, fallbacks: ['second'] },
  });
}
