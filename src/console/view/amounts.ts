/** Numbers as people read them: thin spaces in thousands, the unit beside. */

/** How the value of a limit or a statistic is written. */
export type Unit = 'count' | 'usd' | 'ms' | 'bytes';

const THIN_SPACE = '\u2009';

/** `50 112`, with thin spaces. */
export function numberText(value: number): string {
  const [whole = '', fraction] = String(Math.round(value * 100) / 100).split('.');
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** `$0.0014` of micro-dollars: at least two digits that count. */
export function moneyText(microUsd: number): string {
  if (microUsd === 0) return '$0';
  const usd = microUsd / 1_000_000;
  if (usd >= 1) {
    const [dollars = '0', cents = '00'] = usd.toFixed(2).split('.');
    return `$${numberText(Number(dollars))}.${cents}`;
  }
  const digits = Math.min(6, Math.max(4, 1 - Math.floor(Math.log10(usd))));
  const text = usd.toFixed(digits).replace(/(\.\d{2}\d*?)0+$/, '$1');
  return `$${text}`;
}

/** `$0.0014` of micro-dollars, with four digits after the point, for columns. */
export function moneyColumnText(microUsd: number): string {
  if (microUsd === 0) return '$0';
  if (microUsd < 100) return '<$0.0001';
  const usd = microUsd / 1_000_000;
  return usd >= 100 ? moneyText(microUsd) : `$${usd.toFixed(4)}`;
}

/** `885 ms`, `1.9 s`, `6 min 4 s`, `2 h 5 min`, `6 d 4 h`. */
export function durationText(ms: number): string {
  const value = Math.max(0, ms);
  if (value < 999.5) return `${Math.round(value)} ms`;
  if (value < 59_950) return `${(value / 1000).toFixed(1)} s`;
  const seconds = Math.round(value / 1000);
  if (seconds < 3600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function pair(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** A time ago in its largest unit: `14 s`, `6 min`, `3 h`, `12 d`. */
export function agoText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `512 B`, `33.8 KB`, `1.2 MB`; 1 KB is 1,024 bytes. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** `value` in `unit`. */
export function amountText(unit: Unit, value: number): string {
  if (unit === 'usd') return moneyText(value);
  if (unit === 'ms') return durationText(value);
  return unit === 'bytes' ? bytesText(value) : numberText(value);
}
