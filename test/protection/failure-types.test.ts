/** What a worker's SDK makes of errors of payloads: a workflow goes by the type. */
import { ensureApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import type { FailureType } from '../../src/core/base/failure-types.ts';
import {
  BlobDamagedError,
  BlobMissingError,
  BlobStoreError,
  BlobTooLargeError,
  BlobUnreadableError,
} from '../../src/protection/blobs/blob-errors.ts';
import { KeyMissingError, PayloadDamagedError } from '../../src/protection/key-errors.ts';

it.each<readonly [FailureType, Error]>([
  ['blob_missing', new BlobMissingError('dir:/blobs', 'key')],
  ['blob_damaged', new BlobDamagedError('dir:/blobs', 'key', 'other content')],
  ['blob_too_large', new BlobTooLargeError(2, 1)],
  ['blob_store_failed', new BlobStoreError('dir:/blobs', 'nothing.')],
  ['blob_unreadable', new BlobUnreadableError('dir:/blobs', 'nothing.')],
  ['keys_missing', new KeyMissingError('k1', [])],
  ['payload_damaged', new PayloadDamagedError('k1')],
])('%s is the type of its failure, and may be repeated', (type, error) => {
  expect(ensureApplicationFailure(error)).toMatchObject({ type, nonRetryable: false });
  expect(error.name).toBe(type);
});
