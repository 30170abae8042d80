/**
 * Floats as text: the shortest decimal form that reads back as the same float, spelled as in Java.
 */

/** A finite float: `2.0`, `12345678.9`, `1.0E20`; plain from 1e-3 up to below 1e16. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return 'Infinity';
  if (value === -Infinity) return '-Infinity';
  const size = Math.abs(value);
  if (size === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (size >= 1e-3 && size < 1e16) {
    const plain = String(value);
    return plain.includes('.') ? plain : `${plain}.0`;
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const mantissa = digits.includes('.') ? digits : `${digits}.0`;
  return `${mantissa}E${exponent.startsWith('+') ? exponent.slice(1) : exponent}`;
}

/** {@link floatText} for the reader, with `##Inf`, `##-Inf` and `##NaN`. */
export function floatLiteral(value: number): string {
  if (Number.isNaN(value)) return '##NaN';
  if (value === Infinity) return '##Inf';
  return value === -Infinity ? '##-Inf' : floatText(value);
}
