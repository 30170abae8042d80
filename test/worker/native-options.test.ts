import { expect, test } from 'vitest';
import { nativeOptions } from '../../src/worker/serve/native-options.ts';

test.each(['127.0.0.1:7233', '[::1]:7233', 'localhost:7233', 'localhost'])(
  'nothing is packed on the way to %s, which is this machine',
  (address) => {
    expect(nativeOptions(address)).toEqual({ address, grpcCompression: { codec: 'none' } });
  },
);

test.each(['10.0.0.7:7233', 'localhost.example.com:7233', 'agents.a1b2c.tmprl.cloud:7233'])(
  'the SDK decides what is packed on the way to %s',
  (address) => {
    expect(nativeOptions(address, { tls: true, apiKey: 'secret' })).toEqual({
      address,
      tls: true,
      apiKey: 'secret',
    });
  },
);
