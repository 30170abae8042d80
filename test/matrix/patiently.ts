/** Questions that are asked again while no worker and no server answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { grpcCodeOf } from '../../src/client/connection/service-errors.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';

/** The gRPC status of a service that cannot be reached. */
const UNAVAILABLE = 14;

/** How often a person looks what waits. */
export const LOOK_EVERY_MS = 200;

/**
 * Repeats what no worker or no server answered, as a person does who looks again. While workers crash,
 * tries of one answer fill the few places that the service has for messages on their way. Throws the
 * last error after `withinMs`.
 */
export async function patiently<Result>(
  ask: () => Promise<Result>,
  withinMs: number = Infinity,
): Promise<Result> {
  const until = performance.now() + withinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const mayAgain = isUsageError(error) && ['no_worker', 'run_busy'].includes(error.code);
      if (!mayAgain && grpcCodeOf(error) !== UNAVAILABLE) throw error;
      if (performance.now() > until) throw error;
      await sleep(LOOK_EVERY_MS);
    }
  }
}
