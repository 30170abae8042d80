import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { requireKeys } from '../../src/worker/serve/require-keys.ts';

const KEYED = protectionOf(
  { keys: keyRing({ current: 'k1', keys: { k1: new Uint8Array(32) } }) },
  undefined,
);
const plain = defaultPayloadConverter.toPayload('clerk');

describe('a worker without keys', () => {
  it.each<readonly [string, readonly Memo[]]>([
    ['no run', []],
    ['readable runs', [plain, plain]],
    ['one readable run among encrypted ones', ['encrypted', plain]],
  ])('starts in a namespace with %s', async (_name, memos) => {
    await expect(requireKeys(await service(memos), 'default')).resolves.toBeUndefined();
  });

  it('does not start where all of the newest runs are encrypted', async () => {
    await expect(
      requireKeys(await service(['encrypted', 'encrypted']), 'default'),
    ).rejects.toMatchObject({
      code: 'keys_missing',
      message:
        'Expected key `k1`, which encrypts the newest runs of namespace `default`, got no keys. Set EVERLOOP_KEYS, or start with `--allow-unencrypted`.',
    });
  });

  it('starts there if it may, with keys, and where the service does not list', async () => {
    const encrypted = await service(['encrypted']);
    const refusing = {
      workflowService: { listWorkflowExecutions: () => Promise.reject(new Error('denied')) },
    };

    await requireKeys(encrypted, 'default', protectionOf({ allowUnencrypted: true }, undefined));
    await requireKeys(encrypted, 'default', KEYED);
    await requireKeys(refusing as never, 'default');
  });
});

type Memo = Payload | 'encrypted';

async function service(memos: readonly Memo[]): Promise<Parameters<typeof requireKeys>[0]> {
  const [encrypted] = await KEYED.codec.encode([plain]);
  const executions = memos.map((memo) => ({
    memo: { fields: { agent: memo === 'encrypted' ? encrypted : memo } },
  }));
  const workflowService = { listWorkflowExecutions: async () => ({ executions }) };
  return { workflowService } as never;
}
