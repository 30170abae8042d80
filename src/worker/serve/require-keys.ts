/** A worker without keys does not start where it could serve no run. */
import type { NativeConnection } from '@temporalio/worker';
import { AGENT_WORKFLOW } from '../../core/contract/messages.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { keyIdOf } from '../../protection/codec.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';

/** So many of the newest runs are looked at. */
const NEWEST = 20;

/**
 * Rejects with a UsageError `keys_missing` if this process has no keys, and the newest runs of the
 * namespace are all encrypted. What the service refuses to list is not looked at.
 */
export async function requireKeys(
  { workflowService }: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  { keys, allowUnencrypted }: Protection = NO_PROTECTION,
): Promise<void> {
  if (keys !== undefined || allowUnencrypted) return;
  const query = `WorkflowType = '${AGENT_WORKFLOW}'`;
  const listed = await workflowService
    .listWorkflowExecutions({ namespace, query, pageSize: NEWEST })
    .catch(() => null);
  const ids = (listed?.executions ?? []).map(({ memo }) => {
    const [payload] = Object.values(memo?.fields ?? {});
    return payload === undefined ? undefined : keyIdOf(payload);
  });
  const [id] = ids;
  if (id === undefined || ids.includes(undefined)) return;
  throw new UsageError(
    'keys_missing',
    `Expected key \`${id}\`, which encrypts the newest runs of namespace \`${namespace}\`, got no keys. Set EVERLOOP_KEYS, or start with \`--allow-unencrypted\`.`,
  );
}
