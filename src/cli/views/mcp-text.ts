/** Servers of the Model Context Protocol as text for people. */
import type { Catalogue } from '../../mcp/catalogue/catalogue.ts';
import type { LockDifference } from '../../mcp/catalogue/lock-file.ts';
import { oneLine, tableText } from '../terminal/text.ts';

/** Characters of a reason. */
const MAX_REASON = 100;

/** The tools of a server, and those that agents do not get. */
export function catalogueText(server: string, { identity, tools, leftOut }: Catalogue): string {
  const head = identity === '' || identity === server ? server : `${server} (${identity})`;
  const rows = [
    ...tools.map(({ spec, hash }) => [spec.name, spec.effect, spec.approval ?? '-', hash, '']),
    ...leftOut.map(({ tool, effect = '-', hash = '-', reason }) => [
      tool,
      effect,
      '-',
      hash,
      `out: ${oneLine(reason, MAX_REASON)}`,
    ]),
  ];
  if (rows.length === 0) return `${head}\nIt has no tools.`;
  return `${head}\n${tableText(['TOOL', 'EFFECT', 'APPROVAL', 'HASH', ''], rows)}`;
}

/** What each difference means, a line each. */
export function differenceText(differences: readonly LockDifference[]): string {
  const lines = differences.map(({ server, tool, kind }) => {
    const what = tool === undefined ? server : `${server} ${oneLine(tool, MAX_REASON)}`;
    return `${what}: ${WORDS[kind]}`;
  });
  return [...lines, 'Look at them, then run `everloop mcp lock`.'].join('\n');
}

const WORDS: { readonly [Kind in LockDifference['kind']]: string } = {
  new: 'is new',
  changed: 'has other words or arguments',
  gone: 'is gone',
  effect: 'has another effect',
  identity: 'gives itself another name',
  unlocked: 'is not in the lock file',
};
