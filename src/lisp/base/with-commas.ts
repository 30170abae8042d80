/**
 * `1234567` as `1,234,567`, the same in every locale; `whole` has digits and perhaps a sign.
 * Linear.
 */
export function withCommas(whole: number | string): string {
  const text = String(whole);
  if (text.length <= SHORT) return text.replace(/\B(?=(?:\d{3})+$)/g, ',');
  // The pattern looks at all that follows at each place.
  const from = text.length - Math.ceil((text.length - SHORT) / 3) * 3;
  const parts = [withCommas(text.slice(0, from))];
  for (let at = from; at < text.length; at += 3) parts.push(text.slice(at, at + 3));
  return parts.join(',');
}

const SHORT = 30;
