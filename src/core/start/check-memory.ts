/** The memory of programs that a run is started with: it may come from any client. */
import { EMPTY_MEMORY, type ProgramMemory } from '../../lisp.ts';
import { isPlainObject } from '../base/json.ts';
import { shown } from '../text/shown.ts';

/** Why `value` cannot be the memory of a run, in one sentence; undefined when it can. */
export function memoryProblem(value: unknown): string | undefined {
  if (!isPlainObject(value)) {
    return `Expected \`memory\` to be that of a Step, got ${shown(value)}. Pass \`step.memory\` on.`;
  }
  // The memory of a run without programs.
  if (Object.keys(value).length === 0) return undefined;
  const { v, bindings, history, journal, plan, heap, sources } = value;
  if (v !== 1) {
    return `Expected \`memory\` of version 1, got ${shown(v)}. A newer worker wrote it: upgrade this one, or start without it.`;
  }
  const broken = [
    ['bindings', isPlainObject(bindings)],
    ['history', Array.isArray(history)],
    ['journal', isPlainObject(journal)],
    ['plan', isTexts(plan)],
    ['heap', Array.isArray(heap)],
    ['sources', isTexts(sources)],
  ].flatMap(([name, fits]) => (fits === true ? [] : [String(name)]));
  if (broken.length === 0) return undefined;
  return `Expected \`memory\` to be that of a Step, got one with a broken ${broken.join(', ')}. Pass \`step.memory\` on as it is.`;
}

function isTexts(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** The memory of a Step that was checked, in the form in which a run begins with it. */
export function startMemory(given: ProgramMemory | Readonly<Record<string, never>>): ProgramMemory {
  return 'v' in given ? (given as ProgramMemory) : EMPTY_MEMORY;
}
