/**
 * `everloop/client`: connect, start runs and talk to them. For web servers and functions, which define
 * no agents and serve none: it is a part of `everloop` that loads no native module, no provider and
 * no checker of schemas. Needs Node: the service is called by gRPC.
 *
 * @example
 * const everloop = await connect();
 * const run = await everloop.start('clerk', { task: 'Do we have tea?' });
 * console.log(unwrap(await run.result()));
 */
import './client/connection/require-node.ts';

export { connect, type ConnectedEverloop, type ConnectOptions } from './client/connect.ts';
export {
  createEverloop,
  type AgentRunInput,
  type Everloop,
  type EverloopParts,
  type StartOptions,
  type StartOptionsOf,
} from './client/everloop-client.ts';
export type { Conversation, ConversationOptions, SayOptions } from './client/conversation.ts';
export type { TurnHandle } from './client/turn.ts';
export type {
  ConversationListOptions,
  ConversationPage,
  ConversationSummary,
} from './client/list-conversations.ts';
export type { ConversationTurn, TurnsOptions } from './client/turns.ts';
export {
  followRun,
  type FollowedRun,
  type FollowRunOptions,
  type RunUpdate,
} from './client/follow-run.ts';
export type { ListOptions, RunPage, RunSummary } from './client/run-list.ts';
export type { InboxItem, InboxOptions, InboxView } from './client/inbox.ts';
export type { CancelOptions, RunHandle, SendOptions } from './client/run-handle.ts';
export { keyRing, type KeyRing, type KeyRingOptions } from './protection/key-ring.ts';
export type { ProtectionOptions } from './protection/protection.ts';
export { directoryBlobs } from './protection/blobs/directory-blobs.ts';
export { s3Blobs } from './protection/blobs/s3-blobs.ts';
export type { S3Options } from './protection/blobs/s3-bucket.ts';
export type { BlobStore } from './protection/blobs/blob-store.ts';
export { isOwnEvent, type AgentEvent, type OwnEvent } from './core/contract/events.ts';
export type { LimitsInput } from './core/contract/input.ts';
export type { PendingItem, RunStatus } from './core/contract/messages.ts';
export type { AnswerOptions, Decision } from './core/contract/pending.ts';
export type { Step, StepStatus, Usage } from './core/contract/step.ts';
export { isStep } from './core/contract/piping.ts';
export type { TypedAgent } from './core/start/agent-types.ts';
export { unwrap } from './core/run/unwrap.ts';
export { failureTypes, type FailureType } from './core/base/failure-types.ts';
export type { Json, JsonObject } from './core/base/json.ts';
export {
  textMessage,
  textOf,
  type MediaPart,
  type Message,
  type Part,
  type Task,
} from './core/base/message.ts';
export { collect, isChunk, type Chunk, type LiveItem } from './core/streaming/chunk.ts';
export type { UsageCode } from './core/base/usage-codes.ts';
export { isUsageError, UsageError } from './core/base/usage-error.ts';
