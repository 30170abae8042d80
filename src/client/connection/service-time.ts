/** Moments of the service. */

/** A timestamp of the service. */
export interface ServiceTime {
  readonly seconds?: { toString(): string } | number | null;
  readonly nanos?: number | null;
}

/** Milliseconds since 1970 of a timestamp of the service; 0 for none. */
export function millisecondsOf(time: ServiceTime | null | undefined): number {
  const { seconds, nanos } = time ?? {};
  return Number((seconds ?? 0).toString()) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}
