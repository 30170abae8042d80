/**
 * Whose a blob store is. Two services that share one would delete each other's blobs, since neither
 * knows the runs of the other.
 */
import type { Client } from '@temporalio/client';
import { UsageError } from '../../core/base/usage-error.ts';
import { ownerFileOf } from '../../protection/blobs/blob-names.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';

/**
 * Makes sure that `store` is that of `namespace`, as the service knows it: by its id, which is another
 * one in another service. The first to ask makes it so.
 *
 * @throws UsageError `blob_store` if it is another's.
 */
export async function checkOwner(
  service: Pick<Client['workflowService'], 'describeNamespace'>,
  namespace: string,
  store: BlobStore,
): Promise<void> {
  const { namespaceInfo } = await service.describeNamespace({ namespace });
  const id = namespaceInfo?.id ?? '';
  if (id === '' || (await store.own(namespace, id)) === id) return;
  throw new UsageError(
    'blob_store',
    `Expected blob store \`${store.place}\` to be of namespace \`${namespace}\` of this service, got that of another service. Name another store; if the other service is gone, remove \`${ownerFileOf(namespace)}\` from this one.`,
  );
}
