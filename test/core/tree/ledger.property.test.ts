/**
 * The ledger under any interleaving: a tree of states, moved by the events of the loop alone, with
 * messages that wait, get lost and come twice.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/core/agent/events.ts';
import { ledgerOf } from '../../../src/core/agent/run.ts';
import {
  apply,
  startState,
  type Carried,
  type RunState,
} from '../../../src/core/agent/run-state.ts';
import { usageOf } from '../../../src/core/agent/step-of.ts';
import type { Limit } from '../../../src/core/limits/limit.ts';
import { noUsage } from '../../../src/core/model/usage.ts';
import {
  chargedTotals,
  heardReport,
  heardTotals,
  totalsOf,
} from '../../../src/core/tree/child-totals.ts';
import {
  boundsOf,
  committed,
  grantMore,
  overdrawn,
  reserve,
  restOf,
  shortLeases,
} from '../../../src/core/tree/ledger.ts';
import type { Lease } from '../../../src/core/tree/lease.ts';
import type { ChildMessage, ParentMessage } from '../../../src/core/tree/messages.ts';
import { reactSpec } from '../agent/spec-fixture.ts';

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
  | { readonly kind: 'down'; readonly message: ChildMessage }
);

type Op =
  | { readonly op: 'start'; readonly node: number; readonly together: number }
  | { readonly op: 'call' | 'report' | 'ask' | 'end' | 'die'; readonly node: number }
  | { readonly op: 'model'; readonly node: number; readonly tokens: number }
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

/** A tree that operations grow, spend in and prune. */
class Tree {
  readonly nodes: Node[] = [];
  mail: Mail[] = [];

  readonly limits: readonly Limit[];

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

  private post(child: Node, kind: 'progress' | 'lease-request'): void {
    if (child.parent === null) return;
    const wants = shortLeases(ledgerOf(child.state), { [CALLS]: 1 }).map(({ id }) => id);
    this.record(child, { type: 'agent:lease:asked', wants });
    const base = {
      v: 1,
      childId: child.id,
      number: child.state.seq,
      totals: totalsOf(child.state.stats),
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
    else if (mail.message.kind === 'lease-grant') {
      const { number, leases } = mail.message;
      this.record(mail.to, { type: 'agent:lease:answered', number, leases });
    }
  }

  private hear(parent: Node, message: ParentMessage): void {
    const { childId, number } = message;
    const find = () => (parent.state.children ?? []).find((one) => one.childId === childId);
    const known = find();
    if (known === undefined) return;
    const heard = heardReport(known, number, message.totals);
    if (heard !== null)
      this.record(parent, { type: 'agent:child:report', childId, number, ...heard });
    const child = find();
    if (message.kind !== 'lease-request' || child === undefined || child.answered >= number) return;
    const ledger = ledgerOf(parent.state);
    const answers = grantMore(ledger, child, message.wants);
    this.record(parent, { type: 'agent:child:granted', childId, number, leases: answers });
    for (const answer of answers) {
      const bound = boundsOf(ledger).find(({ id }) => id === answer.id);
      if (bound === undefined || 'lifted' in answer) throw new Error('Expected a known bound.');
      // Nobody who asks is refused while anything is free.
      expect(answer.refused === undefined).toBe(restOf(ledger, bound) > 0);
    }
    const to = this.nodes.find(({ id }) => id === childId);
    if (to === undefined) throw new Error('Expected a child.');
    this.mail.push({
      kind: 'down',
      to,
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
      how === 'told' ? heardTotals(known, totalsOf(closing.state.stats)) : chargedTotals(known);
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
    for (const { state, isAlive } of this.nodes) {
      if (!isAlive) continue;
      const ledger = ledgerOf(state);
      for (const bound of boundsOf(ledger)) {
        expect(restOf(ledger, bound)).toBeGreaterThanOrEqual(0);
        expect(Number.isSafeInteger(committed(ledger, bound))).toBe(true);
        // Calls are checked before they are made: what is spent and reserved never crosses the bound.
        if (bound.limit.key === CALLS) {
          expect(committed(ledger, bound)).toBeLessThanOrEqual(bound.max);
        }
      }
    }
    const spent = (what: 'calls' | 'tokens'): number =>
      this.nodes.reduce((sum, each) => sum + each[what], 0);
    for (const { key, max } of this.limits) {
      if (key === CALLS) expect(spent('calls')).toBeLessThanOrEqual(max);
      // Tokens are known when a call is over: each run may cross by the one that it was making.
      const branches = this.nodes.filter(({ modelCalls }) => modelCalls > 0).length;
      if (key === TOKENS) {
        expect(spent('tokens')).toBeLessThanOrEqual(max + branches * MAX_TOKENS_PER_CALL);
      }
    }
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
      { numRuns: 400 },
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

        const [root] = tree.nodes;
        if (root === undefined) throw new Error('Expected a root.');
        const { counters } = root.state.stats;
        const sum = (what: 'calls' | 'tokens'): number =>
          tree.nodes.reduce((total, each) => total + each[what], 0);
        expect([counters[CALLS] ?? 0, counters[TOKENS] ?? 0]).toEqual([
          sum('calls'),
          sum('tokens'),
        ]);
        const ledger = ledgerOf(root.state);
        for (const bound of boundsOf(ledger)) {
          expect(committed(ledger, bound)).toBe(counters[bound.limit.key] ?? 0);
        }
      }),
      { numRuns: 300 },
    );
  });
});
