import { expect, test } from 'vitest';
import { heartbeatOf } from '../../src/worker/serve/serve.ts';

test.each([
  { origin: 'address', address: '127.0.0.1:7233', ms: 4_000 },
  { origin: 'address', address: '127.8.0.1:7233', ms: 4_000 },
  { origin: 'address', address: '[::1]:7233', ms: 4_000 },
  { origin: 'address', address: 'localhost:7233', ms: 4_000 },
  { origin: 'address', address: 'localhost', ms: 4_000 },
  { origin: 'started', address: '127.0.0.1:7300', ms: 4_000 },
  { origin: 'address', address: '10.0.0.7:7233', ms: 15_000 },
  { origin: 'address', address: '127.0.0.1.example.com:7233', ms: 15_000 },
  { origin: 'address', address: 'localhost.example.com:7233', ms: 15_000 },
] as const)(
  '[R18] the heartbeat of a worker is $ms ms for $origin $address',
  ({ origin, address, ms }) => {
    expect(heartbeatOf({ origin, address } as Parameters<typeof heartbeatOf>[0])).toBe(ms);
  },
);
