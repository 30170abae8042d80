/** Tells telemetry and the log of what the keys of a worker have encrypted. */
import { MANY_PAYLOADS } from '../../protection/encrypted-payloads.ts';
import type { Protection } from '../../protection/protection.ts';
import { workerLog } from './worker-log.ts';

/**
 * Gives `count` the payloads of each key, and warns once of each key that has encrypted 2^31 in this
 * process. Returns a function that ends this.
 */
export function watchEncrypted(
  protection: Pick<Protection, 'encrypted'> | undefined,
  count: (keyId: string, payloads: number) => void,
  warn: (message: string) => void = (message) => workerLog('WARN', message),
): () => void {
  const stop = protection?.encrypted.listen((keyId, payloads, all) => {
    count(keyId, payloads);
    if (all < MANY_PAYLOADS || all - payloads >= MANY_PAYLOADS) return;
    warn(
      `Key ${keyId} has encrypted 2^31 payloads in this process, half of what a key should. Put a new key first in EVERLOOP_KEYS.`,
    );
  });
  return stop ?? (() => undefined);
}
