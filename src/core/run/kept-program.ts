/**
 * A program that has not ended, as a hand-over carries it: its machine and its waits. Plain JSON.
 */
import type { EffectRequest, MachineSnapshot, ProgramMemory } from '../../lisp.ts';

/** An effect that waits for a person, outside work or a time. */
export interface KeptEffect {
  readonly request: EffectRequest;
  readonly startedAt: number;
}

/** A program whose open effects all wait. */
export interface KeptProgram {
  readonly programId: string;
  readonly snapshot: MachineSnapshot;
  /** When it began. */
  readonly since: number;
  /** In request order. The items that they wait for are in the state, under their call ids. */
  readonly open: readonly KeptEffect[];
  /** Requests that were not begun, because the run was about to hand over. */
  readonly held: readonly EffectRequest[];
  /** Calls that succeeded, by tool. */
  readonly done: readonly { readonly tool: string; readonly count: number }[];
  readonly calls: number;
  /** Texts of hidden fields in the values of its children; absent: none. */
  readonly hidden?: readonly string[];
  readonly warnings: readonly string[];
  /** Fuel used so far, for a machine that cannot be restored. */
  readonly fuel: number;
  /** Whether the limits of the run leave it less fuel than its own limit. */
  readonly isShort: boolean;
  /** The memory that stays if it cannot be restored; absent: the memory in the state. */
  readonly memory?: ProgramMemory;
}

/** The effects of a program that can be handed over. */
export type KeptEffects = Pick<KeptProgram, 'open' | 'held' | 'done' | 'calls' | 'hidden'>;

/** UTF-8 bytes of a snapshot that a hand-over carries; a larger program runs to its end. */
export const MAX_SNAPSHOT_BYTES: number = 256 * 1024;
