/** How full a link of a run's history is. */

/** Where the service suggests a hand-over by default; operators may set other values. */
export const HANDOVER_AT: { readonly events: number; readonly bytes: number } = {
  events: 4_096,
  bytes: 4_194_304,
};

/** The part of {@link HANDOVER_AT} that a link has, 0 to 1 and beyond. */
export function shareOfLink({
  events,
  bytes,
}: {
  readonly events: number;
  readonly bytes: number;
}): number {
  return Math.max(events / HANDOVER_AT.events, bytes / HANDOVER_AT.bytes);
}
