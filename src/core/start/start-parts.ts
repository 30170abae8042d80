/** Parts of a start that runs and schedules have in common. */
import { defined } from '../base/defined.ts';
import { UsageError } from '../base/usage-error.ts';
import type { AgentInput } from '../contract/input.ts';
import { isCompiled } from '../program-text/compiled.ts';
import { clip } from '../text/cut.ts';
import { shown } from '../text/shown.ts';

const MEMO_TASK_CHARACTERS = 200;

/** What lists of runs show, and what the trace of a run follows from. */
export function memoOf({ agent, task, trace }: AgentInput): Record<string, unknown> {
  const shownTask = clip(task.text, MEMO_TASK_CHARACTERS);
  return defined({ agent, task: shownTask, traceparent: trace?.parent });
}

/** @throws UsageError `invalid_input` for what no compilation has returned. */
export function requireCompiled(compiled: unknown): void {
  if (isCompiled(compiled)) return;
  throw new UsageError(
    'invalid_input',
    `Expected what \`compileAgent\` returns, got ${shown(compiled)}. Compile the agent first.`,
  );
}
