/** The bounds of child runs, the same for every host. */
import { byteSize, type Json } from '../base/json.ts';
import type { ChildOrder } from '../contract/host-order.ts';
import type { ChildEnd } from '../contract/host-outcome.ts';
import type { SizeLimits } from '../base/size-limits.ts';

/**
 * How long a child may take to end after its cancel: its calls and those of its own children have
 * to stop, level after level. Then it is lost, and is terminated when its parent closes.
 */
export const CHILD_END_WITHIN_MS = 90_000;

/** The end of a child that did not end in time. */
export const LATE_CHILD: ChildEnd = {
  kind: 'lost',
  message: `it did not end within ${CHILD_END_WITHIN_MS / 1_000} s of being told to`,
};

/** Why the service would refuse to start a child; null when it would not. */
export function childRefusal({ input }: ChildOrder, { start }: SizeLimits): string | null {
  const bytes = byteSize(input as unknown as Json);
  return bytes > start ? `its input has ${bytes} bytes, at most ${start} are allowed` : null;
}
