import { defined } from '../core/base/defined.ts';
import { isPlainObject } from '../core/base/json.ts';
import type { FormattedSection } from '../core/base/message.ts';

/** A validator's verdict in the form in which it is recorded. */
export type ReadVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly feedback: readonly FormattedSection[] };

/**
 * Reads what a validator returned; undefined when it is not a verdict. A text becomes a section.
 */
export function readVerdict(value: unknown): ReadVerdict | undefined {
  if (!isPlainObject(value)) return undefined;
  if (value['accepted'] === true) return { kind: 'accepted' };
  if (value['accepted'] !== false) return undefined;
  const { feedback } = value;
  if (feedback === undefined || feedback === '') return { kind: 'rejected', feedback: [] };
  if (typeof feedback === 'string') {
    return { kind: 'rejected', feedback: [{ name: 'feedback', content: feedback }] };
  }
  if (!Array.isArray(feedback) || !feedback.every(isSection)) return undefined;
  return { kind: 'rejected', feedback: feedback.map(plainSection) };
}

function isSection(value: unknown): value is FormattedSection {
  if (!isPlainObject(value) || typeof value['name'] !== 'string') return false;
  const { content, children } = value;
  if (content !== undefined && typeof content !== 'string') return false;
  return children === undefined || (Array.isArray(children) && children.every(isSection));
}

/** Copies only the known fields, because verdicts are recorded in history. */
function plainSection({ name, content, children }: FormattedSection): FormattedSection {
  return defined({ name, content, children: children?.map(plainSection) });
}
