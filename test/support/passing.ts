import { vi } from 'vitest';

/**
 * Repeats `check` until it throws nothing; after `withinMs`, fails with what it threw last. The second
 * that vitest waits by default is too short for a machine that is busy.
 */
export async function passing<Value>(
  check: () => Value | Promise<Value>,
  withinMs = 30_000,
): Promise<Value> {
  return vi.waitFor(check, withinMs);
}
