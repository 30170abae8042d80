import { describe, expect, it } from 'vitest';
import {
  readChildCancel,
  readDeadlineChange,
  readLeaseGrant,
  readLeaseRequest,
  readParentLink,
  readProgress,
} from '../../../src/core/tree/read-message.ts';

const base = { v: 1, childId: 'run/1.1', number: 7, totals: { 'agent:iterations': 2 } };
const progress = { ...base, kind: 'progress', pending: [] };
const request = { ...base, kind: 'lease-request', wants: ['run agent:children refuse'] };
const grant = {
  v: 1,
  kind: 'lease-grant',
  number: 7,
  leases: [
    { id: 'a', granted: 4 },
    { id: 'b', granted: 4, refused: { value: 9, max: 9 } },
    { id: 'c', lifted: true },
    { id: 'd', granted: 3, recalls: 2 },
  ],
};
const returned = [{ id: 'd', recalls: 2, kept: 5 }];
const cancel = { v: 1, kind: 'cancel', message: 'enough' };
const deadlines = {
  v: 1,
  kind: 'deadlines',
  number: 9,
  deadlines: [
    {
      origin: { runId: 'r', agent: 'a' },
      limit: { kind: 'exact', key: 'agent:wall_clock_ms', max: 5 },
      startedAt: 7,
    },
  ],
};

describe('a message of another run', () => {
  it('is read as it was sent', () => {
    expect(readProgress(progress)).toEqual(progress);
    expect(readProgress({ ...progress, final: true })).toEqual({ ...progress, final: true });
    expect(readProgress({ ...progress, returned })).toEqual({ ...progress, returned });
    expect(readLeaseRequest(request)).toEqual(request);
    expect(readLeaseRequest({ ...request, returned })).toEqual({ ...request, returned });
    expect(readLeaseGrant(grant)).toEqual(grant);
    expect(readChildCancel(cancel)).toEqual(cancel);
    expect(readDeadlineChange(deadlines)).toEqual(deadlines);
  });

  it.each([
    { name: 'nothing', payload: undefined },
    { name: 'a text', payload: 'progress' },
    { name: 'another version', payload: { ...progress, v: 2 } },
    { name: 'a fraction as number', payload: { ...progress, number: 1.5 } },
    { name: 'a negative total', payload: { ...progress, totals: { 'agent:iterations': -1 } } },
    {
      name: 'a total of NaN',
      payload: { ...progress, totals: { 'agent:iterations': Number.NaN } },
    },
    { name: 'an own share', payload: { ...progress, totals: { '$self:agent:iterations': 1 } } },
    { name: 'pending that is no list', payload: { ...progress, pending: {} } },
    { name: 'an item without an id', payload: { ...progress, pending: [{ kind: 'question' }] } },
    { name: 'wants that are no texts', payload: { ...request, wants: [1] } },
    { name: 'a grant of nothing', payload: { ...grant, leases: [{ id: 'a' }] } },
    { name: 'a negative grant', payload: { ...grant, leases: [{ id: 'a', granted: -1 }] } },
    {
      name: 'a refusal without numbers',
      payload: { ...grant, leases: [{ id: 'a', granted: 1, refused: {} }] },
    },
    {
      name: 'a recall that is no count',
      payload: { ...grant, leases: [{ id: 'a', granted: 1, recalls: 'all' }] },
    },
    { name: 'returns that are no list', payload: { ...progress, returned: {} } },
    {
      name: 'a return of nothing',
      payload: { ...request, returned: [{ id: 'd', recalls: 1 }] },
    },
    { name: 'a cancel of a client', payload: { message: 'enough' } },
    { name: 'a breach that is none', payload: { ...cancel, breach: { key: 'x' } } },
    { name: 'deadlines that are no list', payload: { ...deadlines, deadlines: {} } },
    {
      name: 'a deadline without a limit',
      payload: { ...deadlines, deadlines: [{ startedAt: 7 }] },
    },
  ])('is not $name', ({ payload }) => {
    const readers = [
      readProgress,
      readLeaseRequest,
      readLeaseGrant,
      readChildCancel,
      readDeadlineChange,
    ];

    expect(readers.map((read) => read(payload))).toEqual(readers.map(() => null));
  });

  it('names the parent that the service names, or is believed to have none', () => {
    const parent = { v: 1, workflowId: 'root', runId: 'r', callId: '1.1' };

    expect(readParentLink({ parent }, 'root')).toEqual(parent);
    expect(readParentLink({ parent }, 'another')).toBeNull();
    expect(readParentLink({ parent: { ...parent, v: 2 } }, 'root')).toBeNull();
    expect(readParentLink({ parent: { ...parent, callId: undefined } }, 'root')).toBeNull();
    expect(readParentLink({}, 'root')).toBeNull();
    expect(readParentLink('x', 'root')).toBeNull();
  });
});
