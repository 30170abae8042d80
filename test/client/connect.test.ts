import { describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';

describe('connect', () => {
  it('names the address and what to do when nobody answers', async () => {
    await expect(
      connect({ env: {}, address: '127.0.0.1:1', timeoutMs: 300 }),
    ).rejects.toMatchObject({
      name: 'UsageError',
      code: 'no_server',
      message:
        'Expected a Temporal server at 127.0.0.1:1, got: Failed to connect before the deadline. ' +
        'Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`.',
    });
  });

  it('refuses an environment that does not fit', async () => {
    await expect(connect({ env: { TEMPORAL_ADDRESS: 'nowhere' } })).rejects.toMatchObject({
      code: 'environment',
      message:
        'Expected `TEMPORAL_ADDRESS` to be host and port like `localhost:7233`, got `nowhere`. ' +
        'Correct it, or unset it to use a server of this machine.',
    });
  });

  it('refuses addresses of streams that are none', async () => {
    const env = { EVERLOOP_STREAM_URL: 'http://workers:7244, workers:7244' };
    await expect(connect({ env })).rejects.toMatchObject({
      code: 'environment',
      message:
        'Expected `EVERLOOP_STREAM_URL` to be addresses such as http://workers:7244, got `workers:7244`. Correct it.',
    });
  });
});
