/** Warns of ids of runs that look as if they held a secret: every list of the service shows them. */
import { withoutSecrets } from '../core/text/redact.ts';

/** Ids and digests that programs make: long, and no secrets. */
const MADE_UP = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|\b[\da-f]{40}(?:[\da-f]{24})?\b/gi;

/** Agents whose ids were warned of, which are named once. */
const warned = new Set<string>();

/** A process that starts runs of ever more agents does not remember them all. */
const MAX_WARNED = 100;

/** Warns once for each agent. The warning does not show the id. */
export function warnOfId(agent: string, id: string): void {
  const plain = id.replaceAll(MADE_UP, '');
  if (withoutSecrets(plain) === plain) return;
  if (warned.has(agent) || warned.size >= MAX_WARNED) return;
  warned.add(agent);
  process.emitWarning(
    `The id of a run of ${agent} looks as if it held a secret. Everyone who may list runs reads ids, also with keys. Choose other ids.`,
    'EverloopWarning',
  );
}
