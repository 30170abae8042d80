import { describe, expect, test } from 'vitest';
import { createHeldCalls } from '../../src/workflows/attempts/held-calls.ts';
import { withHeartbeatFor } from '../../src/workflows/attempts/activity-options.ts';

describe('[R2] calls that hold their worker', () => {
  test('are known while they are open, with the longest time', () => {
    const calls = createHeldCalls();
    const end = calls.begin('1.1');

    calls.hear({ callId: '1.1', heldMs: 12_000 });
    calls.hear({ callId: '1.1', heldMs: 7_000 });
    calls.hear({ callId: '2.1', heldMs: 7_000 });

    expect([calls.heldMs('1.1'), calls.heldMs('2.1')]).toEqual([12_000, 0]);
    end();
    calls.hear({ callId: '1.1', heldMs: 12_000 });
    expect(calls.heldMs('1.1')).toBe(0);
  });

  test.each([
    { payload: undefined },
    { payload: 'text' },
    { payload: { callId: '1.1' } },
    { payload: { callId: '1.1', heldMs: '12' } },
    { payload: { callId: '1.1', heldMs: Infinity } },
    { payload: { callId: '1.1', heldMs: -5 } },
    { payload: { callId: 5, heldMs: 12 } },
    { payload: { callId: '__proto__', heldMs: 12 } },
  ])('do not hear of $payload', ({ payload }) => {
    const calls = createHeldCalls();
    calls.begin('1.1');
    calls.hear(payload);

    expect(calls.heldMs('1.1')).toBe(0);
  });

  test.each([
    { heldMs: 0, own: 3_000, heartbeat: 3_000 },
    { heldMs: 4_000, own: 3_000, heartbeat: 15_000 },
    { heldMs: 12_100, own: 5_000, heartbeat: 15_000 },
    { heldMs: 14_000, own: 5_000, heartbeat: 60_000 },
    { heldMs: 900_000, own: 5_000, heartbeat: 60_000 },
    { heldMs: 130_000, own: 120_000, heartbeat: 120_000 },
  ])('held for $heldMs ms, get a heartbeat of $heartbeat ms', ({ heldMs, own, heartbeat }) => {
    const runtime = { heartbeatMs: own } as Parameters<typeof withHeartbeatFor>[1];
    const options = withHeartbeatFor({ heartbeatTimeout: own }, runtime, heldMs);

    expect(options).toEqual({ heartbeatTimeout: heartbeat });
  });
});
