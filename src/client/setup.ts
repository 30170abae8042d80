/** Prepares a namespace for lists of runs. */
import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../core/base/search-attributes.ts';
import { grpcCodeOf } from './connection/service-calls.ts';

/** `KEYWORD` of the service's own enumeration. */
const KEYWORD = 2;

/** The gRPC status for an attribute that is there. */
const ALREADY_EXISTS = 6;

/**
 * Adds the search attributes that the namespace lacks, and returns their names. Rejects with the
 * service's error if it does not allow that, as Temporal Cloud does not.
 */
export async function addSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<readonly string[]> {
  const { operatorService } = connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process has added them meanwhile.
    if (grpcCodeOf(error) !== ALREADY_EXISTS) throw error;
  }
  return missing;
}
