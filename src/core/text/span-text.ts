/** A duration as `24 h` or `0.5 h`; under half a minute as `1.5 s`. */
export function spanText(ms: number): string {
  const hours = Math.round((ms / 3_600_000) * 100) / 100;
  return hours > 0 ? `${hours} h` : `${ms / 1_000} s`;
}
