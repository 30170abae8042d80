/**
 * What a state of a run must have: a hand-over of an earlier release has no more than was required
 * then. Checked by the compiler; nothing here runs.
 */
import { expectTypeOf } from 'vitest';
import type { Inbox } from '../../src/core/run/inbox.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import type { Handover } from '../../src/workflows/start.ts';

/** The fields that are not optional. */
type Required<Type> = {
  [Name in keyof Type]-?: object extends Pick<Type, Name> ? never : Name;
}[keyof Type];

// A new field is optional, and its absence means what it meant before. If one must be required, raise
// the version of the hand-over, and add a function that makes a new state of an old one.
expectTypeOf<Required<RunState>>().toEqualTypeOf<
  | 'v'
  | 'runId'
  | 'agentPath'
  | 'depth'
  | 'head'
  | 'startedAt'
  | 'seq'
  | 'iteration'
  | 'link'
  | 'scratchpad'
  | 'mark'
  | 'historyLength'
  | 'stats'
  | 'limits'
  | 'breach'
  | 'pausedAt'
  | 'idleMs'
  | 'compaction'
  | 'data'
>();
expectTypeOf<Required<Inbox>>().toEqualTypeOf<'accepted' | 'remembered' | 'waiting' | 'cancel'>();
expectTypeOf<Required<Handover>>().toEqualTypeOf<
  'v' | 'kind' | 'state' | 'inbox' | 'runtime' | 'previous' | 'putOff'
>();
