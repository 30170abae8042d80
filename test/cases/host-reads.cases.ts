/** The contract of `Host` on reads that run beside the reply of a model call. */
import { defined } from '../../src/core/base/defined.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ModelOutcome } from '../../src/core/contract/host-outcome.ts';
import type { BesideRead } from '../../src/core/contract/outcome.ts';
import type { HostCase } from './host.cases.ts';

/** What a case compares of reads: all but their time. */
function shownReads(reads: readonly BesideRead[] = []): readonly Json[] {
  return reads.map(({ index, tool, args, result, again }) => {
    const { outcome, attempts, output = null } = result;
    return { index, tool, args, outcome, attempts, output, ...defined({ again }) };
  });
}

function modelEnd(outcome: ModelOutcome): JsonObject {
  const { kind, attempts, lostReads } = outcome;
  const reads = kind === 'reply' ? outcome.reads : undefined;
  return { kind, attempts, reads: shownReads(reads), lost: shownReads(lostReads) };
}

const LOOKED: JsonObject = {
  index: 1,
  tool: 'look',
  args: { key: 'read' },
  outcome: 'ok',
  attempts: 1,
  output: 'seen',
};

/** Cases of model calls whose replies stream calls. */
export const READ_CASES: readonly HostCase[] = [
  {
    name: 'a read runs while the model writes, and its result comes with the reply',
    shows: { kind: 'reply', attempts: 1, reads: [LOOKED], lost: [] },
    act: async ({ askAndRead }) => modelEnd(await askAndRead('reads', { look: 1 })),
  },
  {
    name: 'a call that the order of the model does not name does not run beside the reply',
    shows: { kind: 'reply', attempts: 1, reads: [], lost: [] },
    act: async ({ askAndRead }) => modelEnd(await askAndRead('calls', { read: 1 })),
  },
  {
    name: 'no more calls run beside the reply than the order leaves',
    shows: [1, 2, 2],
    act: async ({ askAndRead }) => {
      const orders = [{ look: 1 }, { look: 2 }, { look: 8 }];
      const ended: number[] = [];
      for (const [index, tools] of orders.entries()) {
        const end = await askAndRead('calls-three', tools, index === 2 ? 2 : 8);
        ended.push(end.kind === 'reply' ? (end.reads ?? []).length : -1);
      }
      return ended;
    },
  },
  {
    name: 'a read whose reply is refused afterwards is lost with it',
    shows: { kind: 'failed', attempts: 1, reads: [], lost: [LOOKED] },
    act: async ({ askAndRead }) => modelEnd(await askAndRead('reads-in-vain', { look: 1 })),
  },
  {
    name: 'an attempt after the first runs nothing beside its reply, and keeps what was lost before',
    shows: { kind: 'reply', attempts: 2, reads: [], lost: [LOOKED] },
    act: async ({ askAndRead }) => modelEnd(await askAndRead('reads-twice', { look: 8 })),
  },
  {
    name: 'a read that throws beside the reply says that it has attempts left',
    shows: {
      kind: 'reply',
      attempts: 1,
      reads: [
        {
          index: 1,
          tool: 'look_throws',
          args: {},
          outcome: 'error',
          attempts: 1,
          output: null,
          again: 'failed',
        },
      ],
      lost: [],
    },
    act: async ({ askAndRead }) => modelEnd(await askAndRead('throws', { look_throws: 1 })),
  },
  {
    name: 'an abort ends a model call and the read that is open beside it',
    shows: {
      kind: 'aborted',
      attempts: 1,
      reads: [],
      lost: [
        {
          index: 1,
          tool: 'look_long',
          args: { key: 'open' },
          outcome: 'canceled',
          attempts: 1,
          output: null,
          again: 'stopped',
        },
      ],
    },
    act: async ({ host, askAndRead, begun }) => {
      const asking = askAndRead('reads-long', { look_long: 1 });
      await begun('open');
      host.abort();
      return modelEnd(await asking);
    },
  },
];
