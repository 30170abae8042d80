/** The names under which a model calls the tools of servers, and which tools an agent uses. */
import { createHash } from 'node:crypto';
import { nameProblems } from '../../define/checks/names.ts';

/** The longest name that providers take. */
const MAX_NAME = 64;

/** Characters of a name that a suffix is added to. */
const NAME_BEFORE_SUFFIX = 57;

/** The name of `tool` for models. Names too long, reserved or not valid get a suffix. */
export function toolName(prefix: string, tool: string): string {
  const name = `${prefix}${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const isFit = name.length <= MAX_NAME && nameProblems(name).length === 0;
  return isFit ? name : withSuffix(name, `${prefix}${tool}`);
}

/** `name` with a suffix that is made from `from`, so that it differs from names it equals. */
export function withSuffix(name: string, from: string): string {
  const digits = createHash('sha256').update(from).digest('hex').slice(0, 6);
  const begun = /^[A-Za-z]/.test(name) ? name : `t${name}`;
  return `${begun.slice(0, NAME_BEFORE_SUFFIX)}_${digits}`;
}

/** Whether `name` fits `pattern`, in which `*` stands for any characters. Linear in both. */
export function fitsPattern(name: string, pattern: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return name === pattern;
  if (!name.startsWith(head) || name.length < head.length + tail.length) return false;
  const end = name.length - tail.length;
  let from = head.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1 || at + part.length > end) return false;
    from = at + part.length;
  }
  return name.endsWith(tail);
}
