import type { Json } from '../../core/base/json.ts';

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
