import type { Decision } from '../../core/contract/pending.ts';
import { isJsonObject, type Json } from '../../core/base/json.ts';

/**
 * Parses a decision about a call: `y` or `yes`, `n` or `no` with an optional reason after it, or
 * other arguments as a JSON object. Null for anything else, so that no call runs by mistake.
 */
export function readDecision(text: string): Decision | null {
  const line = text.trim();
  if (/^y(es)?$/i.test(line)) return { approve: true };
  const denied = /^no?(?:[\s:,.]+(?<reason>[^]*))?$/i.exec(line);
  if (denied !== null) return { deny: denied.groups?.['reason']?.trim() ?? '' };
  if (!line.startsWith('{')) return null;
  try {
    const args = JSON.parse(line) as Json;
    return isJsonObject(args) ? { args } : null;
  } catch {
    return null;
  }
}
