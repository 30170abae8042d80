/**
 * Sizes of JSON, for fuel and limits.
 *
 * I1  Walks with an explicit stack, since data of the host may nest deeply.
 */
import { isJsonObject, type Json } from '../base/json.ts';

/** The approximate size of JSON text in bytes. */
export function jsonSize(json: Json): number {
  let size = 0;
  const todo: Json[] = [json];
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    if (typeof item === 'string') size += item.length + 2;
    else if (isJsonObject(item)) {
      for (const [name, value] of Object.entries(item)) {
        size += name.length + 4;
        todo.push(value);
      }
    } else if (Array.isArray(item)) {
      size += 2;
      for (const value of item as readonly Json[]) todo.push(value);
    } else size += 5;
  }
  return size;
}
