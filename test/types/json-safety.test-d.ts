/**
 * What outlives a process is plain JSON: no Map, Date, class, function, undefined, bigint or symbol.
 * Checked by the compiler with the rest of the tests; nothing here runs.
 */
import type { EverloopActivities } from '../../src/activities/activity-types.ts';
import type { AgentInput } from '../../src/core/contract/input.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Inbox, RunInput } from '../../src/core/run/inbox.ts';
import type {
  Adjustment,
  AdjustReceipt,
  AnswerPayload,
  AnswerReceipt,
  CancelPayload,
  DecidePayload,
  EventsRequest,
  LinkPage,
  PendingItem,
  RunStatus,
  SendReceipt,
  TranscriptRequest,
  TreeView,
} from '../../src/core/contract/messages.ts';
import type { Json } from '../../src/core/base/json.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { Stats } from '../../src/core/contract/stats.ts';
import type { Entry } from '../../src/core/contract/entry.ts';
import type { ChildMessage, ParentMessage } from '../../src/core/contract/tree-messages.ts';
import type { Handover } from '../../src/workflows/start.ts';

/** `T` with everything replaced by `never` that JSON cannot hold. */
type AsJson<T> = T extends Json
  ? T
  : T extends bigint | symbol | undefined | ((...args: never) => unknown)
    ? never
    : T extends
          ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Date | RegExp | Promise<unknown>
      ? never
      : T extends object
        ? { [Key in keyof T]: AsJson<T[Key]> }
        : never;

/** Whether `T` is JSON all the way down; an absent optional field is one that JSON leaves out. */
type IsJson<T> = [T] extends [AsJson<T>] ? true : false;

/** Compiles when the claim is true. */
type Holds<Claim extends true> = Claim;

/** What crosses to an activity and comes back. */
type Crossing = {
  [Name in keyof EverloopActivities]:
    | Exclude<Parameters<EverloopActivities[Name]>[0], undefined>
    // An activity without an argument or a result gives nothing, which is no payload.
    | Exclude<Awaited<ReturnType<EverloopActivities[Name]>>, void>;
}[keyof EverloopActivities];

/** All that is stored, sent or handed over. */
export type Durable = [
  Holds<IsJson<RunState>>,
  Holds<IsJson<AgentEvent>>,
  Holds<IsJson<Entry>>,
  Holds<IsJson<Stats>>,
  Holds<IsJson<Inbox>>,
  Holds<IsJson<Handover>>,
  Holds<IsJson<Step>>,
  Holds<IsJson<AgentInput>>,
  Holds<IsJson<RunInput>>,
  Holds<IsJson<Adjustment>>,
  Holds<IsJson<AdjustReceipt>>,
  Holds<IsJson<CancelPayload>>,
  Holds<IsJson<SendReceipt>>,
  Holds<IsJson<RunStatus>>,
  Holds<IsJson<PendingItem>>,
  Holds<IsJson<AnswerPayload>>,
  Holds<IsJson<DecidePayload>>,
  Holds<IsJson<AnswerReceipt>>,
  Holds<IsJson<TranscriptRequest>>,
  Holds<IsJson<EventsRequest>>,
  Holds<IsJson<LinkPage>>,
  Holds<IsJson<ParentMessage>>,
  Holds<IsJson<ChildMessage>>,
  Holds<IsJson<TreeView>>,
  Holds<IsJson<Crossing>>,
];

declare class Point {
  readonly x: number;
  norm(): number;
}

/** Canaries: each of these must fail, or the check above proves nothing. */
export type Canaries = [
  // @ts-expect-error A Map becomes {}.
  Holds<IsJson<{ readonly a: ReadonlyMap<string, number> }>>,
  // @ts-expect-error A Set becomes {}.
  Holds<IsJson<{ readonly a: Set<string> }>>,
  // @ts-expect-error A Date becomes text.
  Holds<IsJson<{ readonly a: { readonly b: readonly Date[] } }>>,
  // @ts-expect-error A value of undefined vanishes.
  Holds<IsJson<{ readonly a: string | undefined }>>,
  // @ts-expect-error A bigint does not serialise.
  Holds<IsJson<readonly bigint[]>>,
  // @ts-expect-error A function vanishes.
  Holds<IsJson<{ readonly a: () => void }>>,
  // @ts-expect-error An instance of a class loses its methods.
  Holds<IsJson<{ readonly a: Point }>>,
  // @ts-expect-error What is not known may be anything.
  Holds<IsJson<{ readonly a: unknown }>>,
];
