import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import {
  attributesOfRun,
  createAttributeUse,
} from '../../src/client/connection/search-attributes.ts';

/** What the SDK throws when the service answers with this gRPC status. */
function statusError(code: number): Error {
  const cause = Object.assign(new Error('no'), { code, details: 'no', metadata: {} });
  return new ServiceError('Failed', { cause });
}

describe('search attributes in calls', () => {
  it('are used where the namespace has them', async () => {
    const withAttributes = createAttributeUse();
    const calls: boolean[] = [];

    await withAttributes(async (has) => void calls.push(has));
    await withAttributes(async (has) => void calls.push(has));

    expect(calls).toEqual([true, true]);
  });

  it('are left out where it lacks them, which is asked once', async () => {
    const withAttributes = createAttributeUse();
    const calls: boolean[] = [];
    const call = async (has: boolean): Promise<string> => {
      calls.push(has);
      if (has) throw statusError(3);
      return 'started';
    };

    expect(await withAttributes(call)).toBe('started');
    expect(await withAttributes(call)).toBe('started');
    expect(calls).toEqual([true, false, false]);
  });

  it('do not hide other mistakes', async () => {
    const withAttributes = createAttributeUse();
    const failing = async (): Promise<never> => Promise.reject(statusError(3));
    const refused = async (): Promise<never> => Promise.reject(statusError(6));
    const calls: boolean[] = [];

    await expect(withAttributes(failing)).rejects.toThrow('Failed');
    await expect(withAttributes(refused)).rejects.toThrow('Failed');
    await withAttributes(async (has) => void calls.push(has));

    expect(calls).toEqual([true]);
  });

  it('leave out a name that is no keyword', () => {
    expect(attributesOfRun('clerk').map(({ value }) => value)).toEqual(['clerk', 'running']);
    expect(attributesOfRun('x'.repeat(256))).toEqual([]);
  });
});
