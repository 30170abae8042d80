/**
 * Reads payloads of a history that was fetched as it is. The SDK's clients resolve references to
 * blobs in results and queries, but not in histories.
 */
import {
  ExternalStorageNotConfiguredError,
  type LoadedDataConverter,
  type Payload,
} from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  ExternalStorageRunner,
  isReferencePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';

/**
 * The values of `payloads`, also of those that lie in the blob store.
 *
 * @throws ExternalStorageNotConfiguredError if one lies in a store and `converter` has none.
 */
export async function readPayloads(
  converter: LoadedDataConverter,
  payloads: Payload[] | null | undefined,
): Promise<unknown[]> {
  const { externalStorage } = converter;
  const given = payloads ?? [];
  if (externalStorage === undefined && given.some((payload) => isReferencePayload(payload))) {
    throw new ExternalStorageNotConfiguredError();
  }
  const whole =
    externalStorage === undefined
      ? given
      : await new ExternalStorageRunner(externalStorage).retrieve(given);
  return decodeArrayFromPayloads(converter, whole);
}
