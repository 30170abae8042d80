/** What follows from each failure of each call: the table, and the machines that go by it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_JUDGE_ATTEMPTS, maxToolAttempts } from '../../../src/core/attempt/attempts.ts';
import { FAILURE_KINDS, LEFT, type AttemptFailure } from '../../../src/core/attempt/failure.ts';
import {
  afterModelFailure,
  NO_MODEL_TRIED,
  type ModelPolicy,
} from '../../../src/core/attempt/model-attempts.ts';
import {
  NOTHING_TRIED,
  type NextAttempt,
  type Tried,
  CALL_KINDS,
  stepAfter,
} from '../../../src/core/attempt/table.ts';
import { afterJudgeFailure, afterToolFailure } from '../../../src/core/attempt/tool-attempts.ts';
import { noUsage } from '../../../src/core/model/usage.ts';
import type { ToolSpec } from '../../../src/core/contract/spec.ts';

const POLICY: ModelPolicy = { mayRetry: () => true };

function toolOf(effect: ToolSpec['effect'], attempts: number): ToolSpec {
  const retry = { attempts: effect === 'once' ? 1 : attempts, initialMs: 10, factor: 2 };
  return { name: 'pay', effect, timeoutMs: 1_000, retry } as ToolSpec;
}

/** The machine of each kind of call, and how often it may try. */
function machineOf(kind: (typeof CALL_KINDS)[number], attempts: number) {
  type After = (failure: AttemptFailure, tried: Tried) => NextAttempt<unknown>;
  switch (kind) {
    case 'model': {
      const after: After = (failure, tried) =>
        afterModelFailure(POLICY, { ...NO_MODEL_TRIED, ...tried }, failure, 0);
      return { after, most: 8 };
    }
    case 'judgement': {
      const after: After = (failure, tried) => afterJudgeFailure(tried, failure);
      return { after, most: MAX_JUDGE_ATTEMPTS };
    }
    case 'local': {
      const tool = toolOf('read', attempts);
      const after: After = (failure, tried) => afterToolFailure(tool, tried, failure, true);
      return { after, most: 1 };
    }
    default: {
      const tool = toolOf(kind, attempts);
      const after: After = (failure, tried) => afterToolFailure(tool, tried, failure);
      return { after, most: maxToolAttempts(tool) };
    }
  }
}

const failure = (kind: AttemptFailure['kind']): AttemptFailure => ({ kind, message: kind });

const PAIRS = CALL_KINDS.flatMap((call) => FAILURE_KINDS.map((kind) => ({ call, kind })));

describe('a failed attempt', () => {
  it.each(PAIRS)('of $call that is $kind has one step, and its machine takes it', (pair) => {
    const step = stepAfter(pair.call, pair.kind);
    const next = machineOf(pair.call, 3).after(failure(pair.kind), NOTHING_TRIED);

    const expected = { repeat: 'again', retry: 'again', wait: 'again', move: 'again' } as const;
    const others = { elsewhere: 'elsewhere', operator: 'operator' } as const;
    const table: Readonly<Record<string, NextAttempt<unknown>['kind']>> = {
      ...expected,
      ...others,
    };
    expect(next.kind).toBe(table[step] ?? 'end');
    if (next.kind !== 'again') return;
    expect(next.tried).toMatchObject({
      attempts: step === 'retry' ? 1 : 0,
      losses: step === 'repeat' ? 1 : 0,
    });
  });

  it('never repeats a `once` tool that may have begun', () => {
    const mayHaveBegun = ['lost', 'stalled', 'failed', 'broken', 'final', 'unreadable'] as const;
    expect(mayHaveBegun.map((kind) => stepAfter('once', kind))).toEqual(
      mayHaveBegun.map(() => 'unknown'),
    );
  });

  it('ends every call that is left, whatever was tried of it', () => {
    const tried = fc.record({ attempts: fc.nat(9), losses: fc.nat(9), givenBack: fc.nat(9) });
    fc.assert(
      fc.property(fc.constantFrom(...CALL_KINDS), tried, (call, before) => {
        expect(machineOf(call, 3).after(LEFT, before).kind).toBe('end');
      }),
    );
  });

  it('uses at most the attempts that its call has, and no loss uses one', () => {
    const sequence = fc.array(fc.constantFrom(...FAILURE_KINDS), { maxLength: 40 });
    fc.assert(
      fc.property(
        fc.constantFrom(...CALL_KINDS),
        fc.integer({ min: 1, max: 6 }),
        sequence,
        (call, attempts, kinds) => {
          const { after, most } = machineOf(call, attempts);
          let tried: Tried = NOTHING_TRIED;
          for (const kind of kinds) {
            const next = after(failure(kind), tried);
            if (next.kind === 'end') return;
            if (next.kind === 'elsewhere') continue;
            const isLoss = stepAfter(call, kind) === 'repeat';
            expect(next.tried.losses - tried.losses).toBe(isLoss ? 1 : 0);
            if (isLoss) expect(next.tried.attempts).toBe(tried.attempts);
            expect(next.tried.attempts).toBeLessThan(Math.max(most, 1));
            tried = next.tried;
          }
        },
      ),
    );
  });

  it('of a model is charged as often as it cost, until the limits have no room', () => {
    const cost = { ...noUsage, inputTokens: 7 };
    const paid = { ...failure('failed'), usage: cost, usageKnown: true };
    const policy: ModelPolicy = { mayRetry: ({ usage }) => usage.inputTokens < 21 };
    let tried = NO_MODEL_TRIED;
    for (let asked = 1; ; asked++) {
      const next = afterModelFailure(policy, tried, paid, 0);
      if (next.kind === 'again') tried = next.tried;
      else {
        expect({ asked, next }).toMatchObject({
          asked: 3,
          next: { outcome: { attempts: 3, usage: { inputTokens: 21 } } },
        });
        return;
      }
    }
  });
});
