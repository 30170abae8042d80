/** Checks what a start says about traces: clients before they send it, workers once more. */
import { byteSize, isPlainObject, type Json } from '../base/json.ts';
import { readTraceparent } from '../base/traceparent.ts';
import { clip } from '../text/cut.ts';
import { shown } from '../text/shown.ts';

/** Bytes of JSON. Every child run carries it. */
const MAX_TRACE_BYTES = 1_024;

const SHOWN_CHARACTERS = 200;

/** What is wrong with `trace`, in one sentence; undefined if nothing is. */
export function traceProblem(trace: unknown): string | undefined {
  if (trace === undefined) return undefined;
  if (!isPlainObject(trace)) {
    return `Expected \`trace\` to be { parent?, attributes? }, got ${shown(trace)}. Write it so, or leave it out.`;
  }
  const { parent, attributes = {} } = trace;
  if (parent !== undefined && (typeof parent !== 'string' || readTraceparent(parent) === null)) {
    const got =
      typeof parent === 'string' ? `\`${clip(parent, SHOWN_CHARACTERS)}\`` : shown(parent);
    return `Expected \`trace.parent\` to be a traceparent such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got ${got}. Leave it out.`;
  }
  if (!isPlainObject(attributes) || !Object.values(attributes).every(isAttribute)) {
    return `Expected \`trace.attributes\` to be texts, finite numbers and booleans by name, got ${shown(attributes)}. Change it.`;
  }
  const bytes = byteSize(trace as unknown as Json);
  if (bytes <= MAX_TRACE_BYTES) return undefined;
  return `Expected \`trace\` of at most ${MAX_TRACE_BYTES} bytes, got ${bytes}. Shorten its attributes.`;
}

function isAttribute(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
