/**
 * The progress of a program, for people and the console.
 *
 * I1  Reads the machine and changes nothing.
 */
import { defined } from '../base/defined.ts';
import type { Span } from '../base/source.ts';
import { fuelUsed } from './machine.ts';
import type { Branch, EffectRequest, FormState, Machine } from './state.ts';

/** The progress of one top-level form. */
export interface FormStatus {
  readonly index: number;
  readonly span: Span;
  readonly state: FormState;
  /** The value of a finished form, at most 120 characters. */
  readonly preview?: string;
}

/** The progress of one effect. */
export interface EffectStatus {
  readonly id: string;
  readonly kind: 'tool' | 'ask' | 'sleep';
  readonly name: string;
  readonly span: Span;
  readonly state: FormState;
  /** At most 120 characters: the question, or the arguments as JSON. */
  readonly text?: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The end of a timer or of the timeout of a question. */
  readonly until?: number;
}

/** The progress of a program. */
export interface ProgramStatus {
  readonly codeId: string;
  readonly state: FormState;
  readonly fuelUsed: number;
  readonly fuelLimit: number;
  readonly notes: number;
  readonly forms: readonly FormStatus[];
  /** The last 200. */
  readonly effects: readonly EffectStatus[];
  /** Number of effects by state. */
  readonly counts: { readonly [state in FormState]: number };
}

const MAX_EFFECTS = 200;

const MAX_TEXT = 120;

/** Whether every branch of the program waits for an effect. */
function allWait(branch: Branch): boolean {
  if (branch.state === 'ready') return false;
  return (branch.parallel?.branches ?? []).every(
    (child) => child === null || child === undefined || child.state === 'done' || allWait(child),
  );
}

function stateOf(machine: Machine): FormState {
  const { outcome } = machine;
  if (outcome !== null)
    return outcome.kind === 'error' || outcome.kind === 'failed' ? 'failed' : 'done';
  const started = machine.form > 0 || machine.main.stack.frames.length > 0;
  if (!started) return 'pending';
  return allWait(machine.main) ? 'waiting' : 'running';
}

const STATES = {
  queued: 'pending',
  open: 'waiting',
  done: 'done',
  failed: 'failed',
  abandoned: 'failed',
} as const;

function countsOf({ effects }: Machine): ProgramStatus['counts'] {
  const counts = { pending: 0, running: 0, waiting: 0, done: 0, failed: 0 };
  for (const { state } of effects.values()) counts[STATES[state]] += 1;
  return counts;
}

/** The text of {@link EffectStatus.text}. */
function shortly(request: EffectRequest): string | undefined {
  if (request.kind === 'sleep') return undefined;
  const text = request.kind === 'ask' ? request.question : JSON.stringify(request.args);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}

/** The state of a program and of each of its forms and effects. Linear in those. */
export function programStatus(machine: Machine): ProgramStatus {
  const state = stateOf(machine);
  const forms = machine.linked.forms.map(({ span }, index): FormStatus => {
    const preview = machine.previews[index];
    if (preview !== undefined) return { index, span, state: 'done', preview };
    return { index, span, state: index > machine.form ? 'pending' : state };
  });
  const effects = [...machine.effects.values()].slice(-MAX_EFFECTS);
  return {
    codeId: machine.linked.program.id,
    state,
    fuelUsed: fuelUsed(machine),
    fuelLimit: machine.ctx.limits.fuel,
    notes: machine.ctx.noteCount,
    forms,
    counts: countsOf(machine),
    effects: effects.map(({ request, state: at, since }): EffectStatus => {
      const text = shortly(request);
      const duration =
        request.kind === 'sleep'
          ? request.ms
          : request.kind === 'ask'
            ? request.timeoutMs
            : undefined;
      return defined({
        id: request.id,
        kind: request.kind,
        name: request.kind === 'tool' ? request.name : request.kind,
        span: request.span,
        state: STATES[at],
        text,
        since,
        until: duration === undefined ? undefined : since + duration,
      });
    }),
  };
}
