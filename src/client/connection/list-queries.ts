/** Lists of workflows as the service gives them: page by page. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { wellFormedText } from '../../core/text/well-formed.ts';
import { tolerant } from './open-connection.ts';

/** `text` as a text of a list filter. A service fails at a NUL, and the SDK would ask it again. */
export function quoted(text: string): string {
  const known = wellFormedText(text).replaceAll('\0', '\uFFFD');
  return `'${known.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`;
}

/** Which page of a list. */
export interface ListPageRequest {
  readonly query: string;
  readonly pageSize: number;
  /** The token of the page before; null: the first page. */
  readonly token: Uint8Array | null;
}

/** One page of a list, newest first. */
export interface ListPage {
  readonly infos: readonly WorkflowExecutionInfo[];
  /** Of the next page; null: the list ends here. */
  readonly token: Uint8Array | null;
}

/** A page of the workflows that `query` names. */
export async function readListPage(
  client: Client,
  { query, pageSize, token }: ListPageRequest,
): Promise<ListPage> {
  const { namespace, loadedDataConverter } = tolerant(client).options;
  const answer = await client.workflowService.listWorkflowExecutions({
    namespace,
    query,
    pageSize,
    nextPageToken: token,
  });
  const infos: WorkflowExecutionInfo[] = [];
  for (const raw of answer.executions ?? []) {
    infos.push(await executionInfoFromRaw(raw, loadedDataConverter, raw, namespace));
  }
  const next = answer.nextPageToken ?? new Uint8Array();
  return { infos, token: next.length === 0 ? null : next };
}
