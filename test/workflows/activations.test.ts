/** Jobs of activations, as the SDK gives them. */
import { describe, expect, it } from 'vitest';
import type { ActivateInput } from '@temporalio/workflow';
import { activateInOrder } from '../../src/workflows/recorded/activations.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];

const update = (id: string): Job => ({ doUpdate: { protocolInstanceId: id, id } });
const signal = (signalName: string): Job => ({ signalWorkflow: { signalName } });
const result = (seq: number): Job => ({ resolveActivity: { seq } });

function nameOf({ doUpdate, signalWorkflow, resolveActivity }: Job): string {
  return String(doUpdate?.id ?? signalWorkflow?.signalName ?? resolveActivity?.seq ?? 'query');
}

/** A workflow that tells what is applied; `settle` lets updates go on. */
function workflow({ hasEnded = false, isReplaying = false } = {}) {
  const log: string[] = [];
  let settle = (): void => undefined;
  const activate = activateInOrder(
    () => new Promise((resolve) => (settle = resolve)),
    () => hasEnded,
  );
  return {
    log,
    activate: (historyLength: number, at: number, ...jobs: Job[]): void =>
      activate(
        {
          batchIndex: 0,
          activation: { historyLength, timestamp: { nanos: at }, isReplaying, jobs },
        },
        ({ activation }) => void log.push(...(activation.jobs ?? []).map(nameOf)),
      ),
    settle: async () => {
      settle();
      await new Promise(setImmediate);
    },
  };
}

describe('the jobs of activations', () => {
  it('are applied with updates last, once all has settled, in their order', async () => {
    const { log, activate, settle } = workflow();
    activate(3, 1, update('u1'), signal('s'), result(1));
    activate(3, 1, result(2));
    activate(6, 2, update('u2'), result(3));
    expect(log).toEqual(['s', '1', '2', '3']);
    await settle();
    expect(log.slice(4)).toEqual(['u1', 'u2']);
  });

  it('have an update once that the service gives again', async () => {
    const { log, activate, settle } = workflow();
    activate(3, 1, update('u1'));
    activate(6, 2, update('u1'), update('u2'));
    await settle();
    expect(log).toEqual(['u1', 'u2']);
  });

  it('leave updates to the service when the execution has ended', async () => {
    const { log, activate, settle } = workflow({ hasEnded: true });
    activate(3, 1, update('u1'));
    await settle();
    expect(log).toEqual([]);
  });

  it('are refused once when signals come after results that a query has read ahead', () => {
    const { log, activate } = workflow();
    activate(3, 1, signal('s1'));
    activate(5, 1, result(1));
    activate(5, 1, { queryWorkflow: { queryId: 'q' } });
    expect(() => activate(8, 2, signal('s2'))).toThrow('read ahead');
    expect(log).toEqual(['s1', '1', 'query']);
  });

  it('take signals where a replay has two tasks of one time', () => {
    const { log, activate } = workflow({ isReplaying: true });
    activate(3, 1, signal('s1'));
    activate(5, 1, result(1));
    activate(8, 2, signal('s2'));
    expect(log).toEqual(['s1', '1', 's2']);
  });

  it.each<readonly [string, [number, number, Job], [number, number, Job]]>([
    ['signals of the next task, with nothing read ahead', [3, 1, result(1)], [6, 2, signal('s')]],
    ['results after results', [5, 1, result(1)], [8, 2, result(2)]],
    ['signals after signals', [5, 1, signal('s')], [8, 2, signal('s')]],
    ['a local result of the same task', [3, 1, result(1)], [3, 1, signal('s')]],
  ])('take %s', (_name, first, second) => {
    const { log, activate } = workflow();
    activate(3, 1, signal('begin'));
    activate(...first);
    activate(...second);
    expect(log).toHaveLength(3);
  });
});
