/**
 * The ledger under any interleaving: a tree of states, moved by the events of the loop alone, with
 * messages that wait, get lost and come twice.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/core/contract/events.ts';
import { ledgerOf } from '../../../src/core/run/run.ts';
import { apply, startState, type Carried, type RunState } from '../../../src/core/run/run-state.ts';
import { usageOf } from '../../../src/core/run/step-of.ts';
import type { Limit } from '../../../src/core/contract/limit.ts';
import { noUsage } from '../../../src/core/model/usage.ts';
import {
  chargedTotals,
  addedByReport,
  addedTotals,
  totalsOf,
} from '../../../src/core/tree/child-totals.ts';
import {
  boundsOf,
  committed,
  grantMore,
  overdrawn,
  reserve,
  restOf,
  type Bound,
} from '../../../src/core/tree/ledger.ts';
import type { Lease } from '../../../src/core/contract/lease.ts';
import type { LeaseGrant, ParentMessage } from '../../../src/core/contract/tree-messages.ts';
import { isRoomAwaited, recallsOf, returnsOf } from '../../../src/core/tree/recall.ts';
import { reactSpec } from '../runs/spec-fixture.ts';
import { extent } from '../../support/extent.ts';

const CALLS = 'agent:tool_calls';
const TOKENS = 'agent:total_tokens';
const MAX_TOKENS_PER_CALL = 40;

/** One run of the tree, and what has really been spent in it. */
interface Node {
  state: RunState;
  readonly parent: Node | null;
  readonly id: string;
  isAlive: boolean;
  calls: number;
  tokens: number;
  modelCalls: number;
}

/** A message on its way. */
type Mail = { readonly to: Node } & (
  | { readonly kind: 'up'; readonly message: ParentMessage }
  | { readonly kind: 'down'; readonly message: LeaseGrant }
);

type Op =
  | { readonly op: 'start'; readonly node: number; readonly together: number }
  | { readonly op: 'call' | 'report' | 'ask' | 'end' | 'die'; readonly node: number }
  | { readonly op: 'model'; readonly node: number; readonly tokens: number }
  | { readonly op: 'limit'; readonly percent: number }
  | { readonly op: 'deliver' | 'lose' | 'repeat'; readonly mail: number };

const node = fc.nat({ max: 30 });
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('start' as const),
      node,
      together: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constantFrom('call' as const, 'call' as const, 'report' as const, 'ask' as const),
      node,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('end' as const, 'die' as const), node }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('model' as const),
      node,
      tokens: fc.integer({ min: 1, max: MAX_TOKENS_PER_CALL }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constantFrom(
        'deliver' as const,
        'deliver' as const,
        'lose' as const,
        'repeat' as const,
      ),
      mail: fc.nat({ max: 20 }),
    }),
  },
);

/** A limit that is changed while runs live: lowered, then perhaps raised. */
const limitOp: fc.Arbitrary<Op> = fc.record({
  op: fc.constant('limit' as const),
  percent: fc.integer({ min: 0, max: 100 }),
});

/** A tree that operations grow, spend in and prune. */
class Tree {
  readonly nodes: Node[] = [];
  mail: Mail[] = [];

  readonly limits: readonly Limit[];
  /** Of each bound what was spent and reserved when it was looked at last. */
  private readonly before = new Map<string, number>();

  constructor(limits: readonly Limit[]) {
    this.limits = limits;
    this.add(null, 'run', []);
  }

  private add(parent: Node | null, id: string, leases: readonly Lease[]): Node {
    const head = {
      spec: reactSpec({ limits: parent === null ? this.limits : [] }),
      task: { text: 'x' },
    };
    const identity = { runId: id, agentPath: id, depth: 0, startedAt: 0 };
    const node: Node = {
      state: { ...startState(identity, head), leases },
      parent,
      id,
      isAlive: true,
      calls: 0,
      tokens: 0,
      modelCalls: 0,
    };
    this.nodes.push(node);
    return node;
  }

  private record(node: Node, body: EventBody, carried: Carried = {}): void {
    const { state } = node;
    const base = { runId: state.runId, agent: 'a', agentPath: 'a', at: 0, iteration: 0, depth: 0 };
    node.state = apply(state, { ...body, ...base, seq: state.seq + 1 }, carried);
  }

  run(operation: Op): void {
    if ('mail' in operation) return this.carry(operation.op, operation.mail);
    if (operation.op === 'limit') return this.limit(operation.percent);
    const alive = this.nodes.filter(({ isAlive }) => isAlive);
    const chosen = alive[operation.node % alive.length];
    if (chosen === undefined) return;
    switch (operation.op) {
      case 'start':
        for (let left = operation.together; left > 0; left--) this.start(chosen, left);
        return;
      case 'call': {
        const ledger = ledgerOf(chosen.state);
        const fits = boundsOf(ledger)
          .filter(({ limit }) => limit.key === CALLS)
          .every((bound) => restOf(ledger, bound) >= 1);
        if (fits) this.spendCall(chosen);
        return;
      }
      case 'model': {
        if (overdrawn(ledgerOf(chosen.state)) !== null) return;
        chosen.modelCalls += 1;
        chosen.tokens += operation.tokens;
        this.record(chosen, {
          type: 'agent:model_call:after',
          model: 'm',
          purpose: 'reply',
          usage: { ...noUsage, inputTokens: operation.tokens },
          usageKnown: true,
          attempts: 1,
          durationMs: 0,
        });
        return;
      }
      case 'report':
        return this.post(chosen, 'progress');
      case 'ask':
        return this.post(chosen, 'lease-request');
      case 'end':
        return this.close(chosen, 'told');
      case 'die':
        return this.close(chosen, 'silent');
    }
  }

  private spendCall(node: Node): void {
    node.calls += 1;
    this.record(node, {
      type: 'agent:tool_call:after',
      callId: '1.1',
      tool: 'search',
      args: {},
      outcome: 'ok',
      started: true,
      attempts: 1,
      durationMs: 0,
    });
  }

  private start(parent: Node, together: number): void {
    if (this.nodes.length > 30) return;
    const reserved = reserve(ledgerOf(parent.state), together);
    if (reserved.kind === 'none') return;
    const child = this.add(parent, `${parent.id}/${this.nodes.length}`, reserved.leases);
    this.record(
      parent,
      { type: 'agent:child:spawn', childId: child.id, childAgent: 'a', callId: child.id },
      {
        child: {
          childId: child.id,
          callId: child.id,
          agent: 'a',
          path: child.id,
          startedAt: 0,
          number: 0,
          totals: {},
          leases: reserved.leases,
          answered: 0,
          pending: [],
        },
      },
    );
  }

  /** Makes the limits of the root so many per cent of what they were at first. */
  limit(percent: number): void {
    const limits = this.limits.map((limit) => ({
      ...limit,
      max: Math.floor((limit.max * percent) / 100),
    }));
    this.record(this.root, { type: 'agent:adjusted', limits });
    this.recall(this.root);
  }

  get root(): Node {
    const [root] = this.nodes;
    if (root === undefined) throw new Error('Expected a root.');
    return root;
  }

  private recall(parent: Node): void {
    for (const { childId, leases } of recallsOf(ledgerOf(parent.state))) {
      this.record(parent, { type: 'agent:child:granted', childId, number: 0, leases });
      this.tellRecalls(parent, childId);
    }
  }

  private tellRecalls(parent: Node, childId: string): void {
    const child = (parent.state.children ?? []).find((one) => one.childId === childId);
    const { awaited = {}, leases = [] } = child ?? {};
    const recalled = leases.filter(({ id }) => awaited[id] !== undefined);
    if (recalled.length === 0) return;
    const message: LeaseGrant = { v: 1, kind: 'lease-grant', number: 0, leases: recalled };
    this.mail.push({ kind: 'down', to: this.nodeOf(childId), message });
  }

  private nodeOf(childId: string): Node {
    const node = this.nodes.find(({ id }) => id === childId);
    if (node === undefined) throw new Error('Expected a child.');
    return node;
  }

  /** Every run says how it stands, and every message arrives, as often as a recall takes to come back. */
  settle(): void {
    for (let round = 0; round < 70; round++) {
      for (const node of this.nodes) if (node.isAlive) this.post(node, 'progress');
      while (this.mail.length > 0) this.carry('deliver', 0);
    }
  }

  private post(child: Node, kind: 'progress' | 'lease-request'): void {
    if (child.parent === null) return;
    const wants = (child.state.leases ?? []).map(({ id }) => id);
    this.record(child, { type: 'agent:lease:asked', wants });
    const base = {
      v: 1,
      childId: child.id,
      number: child.state.seq,
      totals: totalsOf(child.state.stats),
      returned: returnsOf(ledgerOf(child.state)),
    } as const;
    const message: ParentMessage =
      kind === 'progress' ? { ...base, kind, pending: [] } : { ...base, kind, wants };
    this.mail.push({ kind: 'up', to: child.parent, message });
  }

  private carry(how: 'deliver' | 'lose' | 'repeat', place: number): void {
    const [mail] = this.mail.splice(place % Math.max(1, this.mail.length), 1);
    if (mail === undefined || how === 'lose') return;
    if (how === 'repeat') this.mail.push(mail);
    if (!mail.to.isAlive) return;
    if (mail.kind === 'up') this.hear(mail.to, mail.message);
    else {
      const { number, leases } = mail.message;
      this.record(mail.to, { type: 'agent:lease:answered', number, leases });
      if (leases.some((answer) => 'recalls' in answer)) this.recall(mail.to);
    }
  }

  private hear(parent: Node, message: ParentMessage): void {
    const { childId, number } = message;
    const find = () => (parent.state.children ?? []).find((one) => one.childId === childId);
    const known = find();
    if (known === undefined) return;
    const heard = addedByReport(known, number, message.totals);
    const { returned = [] } = message;
    if (heard !== null) {
      this.record(parent, { type: 'agent:child:report', childId, number, ...heard, returned });
    }
    this.tellRecalls(parent, childId);
    const child = find();
    if (message.kind !== 'lease-request' || child === undefined || child.answered >= number) return;
    const ledger = ledgerOf(parent.state);
    // Who asks for what others are to return waits.
    if (isRoomAwaited(ledger, message.wants)) return;
    const answers = grantMore(ledger, child, message.wants);
    this.record(parent, { type: 'agent:child:granted', childId, number, leases: answers });
    for (const answer of answers) {
      const bound = boundsOf(ledger).find(({ id }) => id === answer.id);
      if (bound === undefined || 'lifted' in answer) throw new Error('Expected a known bound.');
      // Nobody who asks is refused while anything is free.
      expect(answer.refused === undefined).toBe(restOf(ledger, bound) > 0);
    }
    this.mail.push({
      kind: 'down',
      to: this.nodeOf(childId),
      message: { v: 1, kind: 'lease-grant', number, leases: answers },
    });
  }

  /** A run ends with its totals, or without a word: then all below it dies with it. */
  private close(closing: Node, how: 'told' | 'silent'): void {
    const { parent } = closing;
    if (parent === null) return;
    const below = this.nodes.filter(({ isAlive, parent: above }) => isAlive && above === closing);
    // A run that ends has awaited its children.
    for (const child of below) this.close(child, how);
    closing.isAlive = false;
    if (!parent.isAlive) return;
    const known = (parent.state.children ?? []).find(({ childId }) => childId === closing.id);
    if (known === undefined) throw new Error('Expected an open child.');
    const heard =
      how === 'told' ? addedTotals(known, totalsOf(closing.state.stats)) : chargedTotals(known);
    this.record(
      parent,
      {
        type: 'agent:child:complete',
        childId: closing.id,
        status: 'success',
        reason: 'answered',
        ...heard,
        durationMs: 0,
      },
      {
        summary: {
          childId: closing.id,
          agent: 'a',
          status: 'success',
          reason: 'answered',
          usage: usageOf(closing.state.stats),
        },
      },
    );
  }

  /** What every moment must satisfy. */
  check(): void {
    for (const { state, isAlive, id: address } of this.nodes) {
      if (!isAlive) continue;
      const ledger = ledgerOf(state);
      for (const bound of boundsOf(ledger)) {
        const now = committed(ledger, bound);
        expect(restOf(ledger, bound)).toBeGreaterThanOrEqual(0);
        expect(Number.isSafeInteger(now)).toBe(true);
        // Calls are checked before they are made: what is spent and reserved never crosses the bound, and
        // falls until it fits when that was lowered.
        if (bound.limit.key === CALLS) {
          const place = `${address} ${bound.id}`;
          expect(now).toBeLessThanOrEqual(Math.max(bound.max, this.before.get(place) ?? 0));
          this.before.set(place, now);
        }
        this.checkReserved(state, bound);
      }
    }
    const spent = (what: 'calls' | 'tokens'): number => this.spent(what);
    for (const { key, max } of this.limits) {
      if (key === CALLS) expect(spent('calls')).toBeLessThanOrEqual(max);
      // Tokens are known when a call is over: each run may cross by the one that it was making.
      const branches = this.nodes.filter(({ modelCalls }) => modelCalls > 0).length;
      if (key === TOKENS) {
        expect(spent('tokens')).toBeLessThanOrEqual(max + branches * MAX_TOKENS_PER_CALL);
      }
    }
  }

  /** What a parent holds for a child that lives is all that this may spend, whatever either has heard. */
  private checkReserved({ children = [] }: RunState, { id, limit }: Bound): void {
    for (const { childId, leases, awaited } of children) {
      const ledger = ledgerOf(this.nodeOf(childId).state);
      const lease = ledger.leases.find((one) => one.id === id);
      const granted = leases.find((one) => one.id === id)?.granted;
      if (lease === undefined || granted === undefined) continue;
      const held = Math.max(granted, awaited?.[id] ?? 0);
      expect(lease.granted).toBeLessThanOrEqual(held);
      if (limit.key === CALLS) expect(committed(ledger, lease)).toBeLessThanOrEqual(held);
    }
  }

  /** What all runs have really spent. */
  spent(what: 'calls' | 'tokens'): number {
    return this.nodes.reduce((sum, each) => sum + each[what], 0);
  }
}

const limits = fc
  .tuple(fc.nat({ max: 60 }), fc.integer({ min: 1, max: 2_000 }))
  .map(([calls, tokens]): readonly Limit[] => [
    { kind: 'exact', key: CALLS, max: calls },
    { kind: 'exact', key: TOKENS, max: tokens },
  ]);

describe('the ledger of a tree', () => {
  it('is never below zero nor above a limit, whatever runs do and messages go through [row 57]', () => {
    fc.assert(
      fc.property(limits, fc.array(op, { minLength: 5, maxLength: 120 }), (own, operations) => {
        const tree = new Tree(own);
        for (const operation of operations) {
          tree.run(operation);
          tree.check();
        }
      }),
      { numRuns: extent(400) },
    );
  });

  it('holds exactly what was spent once all runs have told their end [row 56] [row 57]', () => {
    fc.assert(
      fc.property(limits, fc.array(op, { minLength: 5, maxLength: 120 }), (own, operations) => {
        const tree = new Tree(own);
        for (const operation of operations) if (operation.op !== 'die') tree.run(operation);
        for (;;) {
          const last = tree.nodes.findIndex(({ isAlive, parent }) => isAlive && parent !== null);
          if (last < 0) break;
          const alive = tree.nodes.filter(({ isAlive }) => isAlive);
          tree.run({ op: 'end', node: alive.length - 1 });
        }

        const { root } = tree;
        const { counters } = root.state.stats;
        expect([counters[CALLS] ?? 0, counters[TOKENS] ?? 0]).toEqual([
          tree.spent('calls'),
          tree.spent('tokens'),
        ]);
        const ledger = ledgerOf(root.state);
        for (const bound of boundsOf(ledger)) {
          expect(committed(ledger, bound)).toBe(counters[bound.limit.key] ?? 0);
        }
      }),
      { numRuns: extent(300) },
    );
  });

  it(
    'stays so while limits are lowered and raised, and frees nothing that may yet be spent [row 57]',
    { timeout: 60_000 },
    () => {
      fc.assert(
        fc.property(
          limits,
          fc.array(fc.oneof({ weight: 20, arbitrary: op }, { weight: 2, arbitrary: limitOp }), {
            minLength: 20,
            maxLength: 150,
          }),
          (own, operations) => {
            const tree = new Tree(own);
            for (const operation of operations) {
              tree.run(operation);
              tree.check();
            }
          },
        ),
        { numRuns: extent(150) },
      );
    },
  );

  it(
    'reserves nothing beyond a lowered limit once all runs have heard of it [row 57]',
    { timeout: 60_000 },
    () => {
      fc.assert(
        fc.property(
          limits,
          fc.array(fc.oneof({ weight: 20, arbitrary: op }, { weight: 1, arbitrary: limitOp }), {
            minLength: 20,
            maxLength: 120,
          }),
          fc.integer({ min: 0, max: 60 }),
          (own, operations, percent) => {
            const tree = new Tree(own);
            for (const operation of operations) if (operation.op !== 'die') tree.run(operation);

            tree.limit(percent);
            tree.settle();

            for (const { state, isAlive } of tree.nodes) {
              if (!isAlive) continue;
              const { children = [] } = state;
              expect(children.filter(({ awaited }) => awaited !== undefined)).toEqual([]);
            }
            const ledger = ledgerOf(tree.root.state);
            // A run may have crossed its part by the model call that it was making.
            const calling = tree.nodes.filter(({ modelCalls }) => modelCalls > 0).length;
            for (const bound of boundsOf(ledger)) {
              const isCalls = bound.limit.key === CALLS;
              const most = Math.max(bound.max, tree.spent(isCalls ? 'calls' : 'tokens'));
              const crossed = isCalls ? 0 : calling * MAX_TOKENS_PER_CALL;
              expect(committed(ledger, bound)).toBeLessThanOrEqual(most + crossed);
            }
          },
        ),
        { numRuns: extent(150) },
      );
    },
  );
});
