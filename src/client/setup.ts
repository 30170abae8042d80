/** Prepares a namespace for lists of runs. */
import type { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../core/base/search-attributes.ts';
import { grpcCodeOf } from './connection/service-errors.ts';

/** `KEYWORD` of the service's own enumeration. */
const KEYWORD = 2;

/** The gRPC status for an attribute that is there. */
const ALREADY_EXISTS = 6;

/** How the namespace and a client are set up. */
export interface SetupView {
  /** The search attributes that the namespace lacks; null: the service does not say. */
  readonly lackingAttributes: readonly string[] | null;
  /** The ids of the keys of this client; null: it has none, or they have no list. */
  readonly keys: readonly string[] | null;
}

/** Reads how the namespace is set up; `keys` are the ids of the client's keys. */
export async function readSetup(
  client: Client,
  keys: readonly string[] | undefined,
): Promise<SetupView> {
  const { namespace } = client.options;
  // Temporal Cloud refuses the question.
  const lackingAttributes = await lackingOf(client.connection, namespace).catch(() => null);
  return { lackingAttributes, keys: keys ?? null };
}

async function lackingOf(
  { operatorService }: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<readonly string[]> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return Object.values(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
}

/**
 * Adds the search attributes that the namespace lacks, and returns their names. Rejects with the
 * service's error if it does not allow that, as Temporal Cloud does not.
 */
export async function addSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<readonly string[]> {
  const { operatorService } = connection;
  const missing = await lackingOf(connection, namespace);
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
