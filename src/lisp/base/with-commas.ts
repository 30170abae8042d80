/** `1234567` as `1,234,567`, the same in every locale; `whole` has digits and perhaps a sign. */
export function withCommas(whole: number | string): string {
  return String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
