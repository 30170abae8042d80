/** `24 h`, `0.5 h`, for less than half a minute `1.5 s`: how long somebody had. */
export function spanText(ms: number): string {
  const hours = Math.round((ms / 3_600_000) * 100) / 100;
  return hours > 0 ? `${hours} h` : `${ms / 1_000} s`;
}
