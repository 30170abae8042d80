/** Which payloads lie in a store. */
import type { Payload, SerializationContext, StorageDriver } from '@temporalio/common';
import { expect, it } from 'vitest';
import type { BlobStore } from '../../src/protection/blobs/blob-store.ts';
import { storedPayloads } from '../../src/protection/blobs/stored-payloads.ts';

const driver: StorageDriver = {
  name: 'd',
  type: 'd',
  store: async () => [],
  retrieve: async () => [],
};
const storeOf = (callBytes?: number): BlobStore => ({ driver, callBytes }) as BlobStore;
const ofWorkflow = { type: 'workflow', namespace: 'n', workflowId: 'w' } as const;
const ofCall = { type: 'activity', namespace: 'n', isLocal: false } as const;

/** Whether a payload of `bytes` is stored, as the SDK decides it. */
async function isStored(
  callBytes: number | undefined,
  bytes: number,
  context: SerializationContext | undefined,
): Promise<boolean> {
  const { codec, externalStorage } = storedPayloads(storeOf(callBytes));
  const given: Payload = { metadata: {}, data: new Uint8Array(bytes) };
  const [payload = given] = await codec.encode([given], context);
  expect(payload).toBe(given);
  return (
    bytes >= externalStorage.payloadSizeThreshold &&
    externalStorage.driverSelector({}, payload) === driver
  );
}

it.each([
  ['from 256 KB up', undefined, 262_143, ofWorkflow, false],
  ['from 256 KB up', undefined, 262_144, ofWorkflow, true],
  ['from 256 KB up', 4_096, 262_144, undefined, true],
  ['of calls from 4 KB up', 4_096, 4_095, ofCall, false],
  ['of calls from 4 KB up', 4_096, 4_096, ofCall, true],
  ['of calls, if their store wants that', undefined, 262_143, ofCall, false],
  ['not of local calls', 4_096, 262_143, { ...ofCall, isLocal: true }, false],
  ['never of a query, which has at most 240 KB', 4_096, 245_760 * 1.05, ofWorkflow, false],
] as const)('%s (%s, %s bytes, %j): %s', async (_name, callBytes, bytes, context, stored) => {
  expect(await isStored(callBytes, Math.round(bytes), context)).toBe(stored);
});
