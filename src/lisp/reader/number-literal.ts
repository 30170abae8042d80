/** Number literals. */
import { float, integer, type Value } from '../value/value.ts';

const DECIMAL = /^[+-]?(?:0|[1-9][0-9]*)$/;
const FLOAT = /^[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)$/;
const MAX_DIGITS = 100;

/** The number that `token` spells, or advice on how to write it. */
export function readNumber(
  token: string,
): { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly advice: string } {
  const digits = token.replace(/[^0-9]/g, '').length;
  if (digits > MAX_DIGITS) return { ok: false, advice: 'A number has at most 100 digits.' };
  if (DECIMAL.test(token)) {
    const value = Number(token);
    return {
      ok: true,
      value: Number.isSafeInteger(value) ? value + 0 : integer(BigInt(plain(token))),
    };
  }
  if (FLOAT.test(token)) return { ok: true, value: float(Number(token)) };
  return { ok: false, advice: adviceFor(token) };
}

function plain(token: string): string {
  return token.startsWith('+') ? token.slice(1) : token;
}

function adviceFor(token: string): string {
  if (/^[+-]?[0-9]+\.$/.test(token)) return `Write \`${token}0\`.`;
  if (/^[+-]?0[0-9]/.test(token)) {
    const bare = token.replace(/^([+-]?)0+(?=[0-9])/, '$1');
    return `Numbers have no leading zeros: write \`${bare}\`.`;
  }
  if (/^[+-]?0[xX]/.test(token)) {
    return 'Write numbers in decimal, such as `31`.';
  }
  if (/^[+-]?[0-9]+N$/.test(token))
    return `Integers have any size: write \`${token.slice(0, -1)}\`.`;
  if (/^[+-]?[0-9.]+M$/.test(token))
    return `There are no decimals: write \`${token.slice(0, -1)}\`.`;
  if (/^[+-]?[0-9]+\/[0-9]+$/.test(token)) {
    const [over, under] = token.split('/');
    return `There are no ratios: write \`(/ ${over} ${under})\`.`;
  }
  return 'Write numbers as `42`, `-1.5` or `1e3`.';
}
