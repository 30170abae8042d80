/** The status of a run: what its workflow says, and what the service says of a closed one. */
import type { Client } from '@temporalio/client';
import type { RunStatus } from '../core/contract/messages.ts';
import { statusQuery } from '../workflows/messages.ts';
import { asking, inTrace, isAlive, querying } from './service-calls.ts';
import { tolerant } from './connection/open-connection.ts';

/** How the service names the end of a workflow that could not end by itself. */
const CLOSED: Readonly<Record<string, NonNullable<RunStatus['closed']>>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  CANCELLED: 'canceled',
};

/**
 * The status of run `id`. A run that was terminated or timed out never learned of it, so its
 * workflow still answers as before; then the service decides.
 *
 * @throws UsageError as `querying`.
 */
export async function readStatus(client: Client, id: string): Promise<RunStatus> {
  const handle = client.workflow.getHandle(id);
  const ask = async (): Promise<RunStatus> => {
    const status = await querying(id, client, () => handle.query(statusQuery));
    return status.step === undefined ? status : { ...status, step: inTrace(status.step) };
  };
  const status = await ask();
  if (status.state === 'ended') return status;
  const { status: service } = await asking(id, () =>
    tolerant(client).workflow.getHandle(id).describe(),
  );
  if (isAlive(service.name)) return status;
  // It may have ended by itself between the two calls.
  const last = await ask();
  if (last.state === 'ended') return last;
  return { ...last, state: 'ended', waitsFor: [], closed: CLOSED[service.name] ?? 'failed' };
}
