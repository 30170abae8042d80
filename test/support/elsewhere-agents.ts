/** An agent whose parts may be missing on a worker: tool, model, validator. */
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { actWith, answer } from './runs.ts';

/** What a clerk is made of. */
export interface ClerkParts {
  /** Default `clerk`. */
  readonly name?: string;
  /** Called when the tool takes effect, with its key. */
  readonly onRefund?: (key: string) => void;
  /** Default: refunds once, then answers `done`. */
  readonly model?: ModelFunction;
  /** The parts that it does not have. */
  readonly lacks?: readonly ('tool' | 'validator')[];
  /** True: the tool is a quick read, run as a local activity. */
  readonly isLocal?: boolean;
  readonly elsewhereMs?: number;
}

/** Refunds once by a tool that is `once`, and has its answer judged. */
export function clerk({
  name = 'clerk',
  lacks = [],
  onRefund,
  model,
  isLocal = false,
  elsewhereMs,
}: ClerkParts = {}): AgentDefinition {
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    ...(isLocal ? { effect: 'read', local: true, timeoutMs: 1_000 } : { effect: 'once' }),
    parameters: z.object({ query: z.string() }),
    execute: (_args, { idempotencyKey }) => {
      onRefund?.(idempotencyKey);
      return 'refunded';
    },
  });
  const polite = defineValidator({ name: 'polite', validate: () => ({ accepted: true }) });
  return defineAgent({
    name,
    mode: 'react',
    model: { id: 'm', model: model ?? refundOnce },
    tools: lacks.includes('tool') ? [] : [refund],
    validators: lacks.includes('validator') ? [] : [polite],
    ...(elsewhereMs === undefined ? {} : { elsewhereMs }),
  });
}

const refundOnce: ModelFunction = async ({ iteration }) =>
  iteration === 1 ? actWith(['refund', 'x']) : answer();

/** Writes each effect to a file, as a service outside would count it. */
export function effectsIn(file: string): (key: string) => void {
  return (key) => appendFileSync(file, `${key}\n`);
}
