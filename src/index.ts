/**
 * `everloop`: define agents, start them, talk to them. For applications and for files that define
 * agents; not for workflow code. Imports no worker, and no workflow code but message definitions.
 */
import './client/connection/require-node.ts';

export { defineAgent } from './define/agent/define-agent.ts';
export {
  AGENT_DEFAULTS,
  type AgentOptions,
  type AvailableMode,
} from './define/agent/agent-options.ts';
export { agentTool, selfTool, type AgentToolOptions } from './define/tool/agent-tool.ts';
export {
  context,
  counter,
  counterPrefix,
  gauge,
  gaugePrefix,
  mask,
  slidingWindow,
  summarize,
  type CompactionOptions,
} from './define/agent/define-compaction.ts';
export {
  jsonAnswer,
  jsonSection,
  jsonToolchain,
  markdownFormat,
  ownAnswer,
  ownSection,
  ownToolchain,
  textAnswer,
  textSection,
  xmlFormat,
  yamlSection,
  yamlToolchain,
  type OwnSectionDefinitionOptions,
  type StructuredSectionOptions,
} from './define/agent/reply-layout.ts';
export type { OwnName } from './core/contract/spec.ts';
export type { SignatureInput } from './define/schema/define-signature.ts';
export { fanOut, type FanOutOptions } from './define/pipeline/define-fan-out.ts';
export {
  pipeline,
  type PipelineOptions,
  type PipelineStage,
  type StageAgent,
} from './define/pipeline/define-pipeline.ts';
export { humanStep, type HumanStep, type HumanStepOptions } from './define/pipeline/human-step.ts';
export { defineTool } from './define/tool/define-tool.ts';
export { fromAiTool, type AiToolOptions } from './define/tool/from-ai-tool.ts';
export type { AiTool } from './define/tool/hosted-tool.ts';
export { llmTool } from './define/tool/define-llm-tool.ts';
export type { LlmToolOptions } from './define/tool/define-llm-tool.ts';
export { ask, type AskOptions, type AskReturn } from './define/tool/ask.ts';
export { clientTool, type ClientToolOptions } from './define/tool/client-tool.ts';
export { keptParts, toolFiles } from './core/streaming/page-parts.ts';
export { external, type ExternalReturn } from './define/tool/external.ts';
export {
  MCP_DEFAULTS,
  mcpServer,
  type McpAuthOptions,
  type McpServerOptions,
} from './define/mcp/mcp-server.ts';
export type {
  McpApproval,
  McpServerDefinition,
  McpToolOverride,
  McpValue,
} from './define/definition/mcp-server.ts';
export type { McpBound, McpCall, McpListing, McpTool, McpTools } from './define/mcp/mcp-tools.ts';
export { toolResult, type ToolReturn } from './define/tool/tool-result.ts';
export { defineValidator, type ValidatorOptions } from './define/tool/define-validator.ts';
export type {
  AgentDefinition,
  EmitOptions,
  AnswerDefinition,
  FormatDefinition,
  PrepareFunction,
  PromptFunction,
  PromptInput,
  ReportContext,
  SectionDefinition,
  TextFunction,
  TextFunctionInput,
  ToolchainDefinition,
  ToolContext,
  ToolDefinition,
  Guard,
  GuardDecision,
  GuardInfo,
  ValidatorDefinition,
  ValidatorVerdict,
  RedactText,
} from './define/definition/definitions.ts';
export type {
  ModelMiddleware,
  ToolMiddleware,
  ToolMiddlewareCall,
} from './define/definition/middleware.ts';
export { isDataMode, isProgramMode } from './define/agent/mode-problems.ts';
export type { LanguageModel } from './define/model/language-model.ts';
export type { AgentModel, ModelEntry, StructuredOutput } from './define/model/model-entry.ts';
export {
  previewPrompt,
  type PreviewOptions,
  type PromptPreview,
} from './registry/preview-prompt.ts';
export type {
  StandardIssue,
  StandardPathSegment,
  StandardResult,
  StandardSchema,
} from './define/schema/standard-schema.ts';
export {
  TOOL_DEFAULTS,
  type ArgsOf,
  type ParametersInput,
  type IsolatedToolOptions,
  type ToolOptions,
} from './define/tool/tool-options.ts';
export {
  SEARCH_DEFAULTS,
  type BuiltInEngine,
  type SearchableTool,
  type SearchEngine,
  type ToolSearchFields,
  type ToolSearchOptions,
} from './define/definition/tool-search-options.ts';
export type { SchemaInput } from './define/schema/value-schema.ts';
export type { ArchiveReader, ChainList } from './client/reading/chain-reader.ts';
export type { ResultOptions } from './client/connection/through-outage.ts';
export {
  connect,
  CONNECT_DEFAULTS,
  type ConnectedEverloop,
  type ConnectOptions,
} from './client/connect.ts';
export type {
  HistoryReader,
  ReadPlace,
  ReaderSetup,
  ReadLink,
} from './client/reading/run-reader.ts';
export {
  connectDeployment,
  createDeployment,
  type ConnectDeploymentOptions,
  type ConnectedDeployment,
  type Deployment,
  type DeploymentParts,
} from './versioning/deployment.ts';
export type { DrainOptions, DrainProgress, DrainResult, StayingRuns } from './versioning/drain.ts';
export type { DeploymentStatus, VersionStatus } from './versioning/fleet.ts';
export type { PromoteOptions, Promotion } from './versioning/promote.ts';
export type { Rescue } from './versioning/rescue.ts';
export type { StayReason } from './versioning/stay.ts';
export type { VersionState } from './versioning/deployment-service.ts';
export type { Conversation, ConversationOptions, SayOptions } from './client/conversation.ts';
export type { TurnHandle } from './client/turn.ts';
export type {
  ConversationListOptions,
  ConversationPage,
  ConversationSummary,
} from './client/list-conversations.ts';
export type { ConversationTurn, TurnsOptions } from './client/turns.ts';
export {
  createEverloop,
  type CompileOptions,
  DEFAULT_TASK_QUEUE,
  type Everloop,
  type EverloopParts,
  type PushedOptions,
  type AgentRunInput,
  type StartOptions,
  type StartOptionsOf,
} from './client/everloop-client.ts';
export { evalResult, type EvalInput, type EvalMoment, type EvalTask } from './client/evals.ts';
export { evalTable, type EvalSummary, type Estimate } from './core/evaluation/eval-table.ts';
export type { EvalResult, EvalRow, EvalVariant } from './core/evaluation/eval-plan.ts';
export type { ForkSourceOptions, ForkStartOptions } from './client/forks.ts';
export { diffRuns, type DiffCall, type DiffSide, type RunDiff } from './client/forks/run-diff.ts';
export type {
  CallAfter,
  ForkEdit,
  ForkEffects,
  ForkOptions,
  ForkOrigin,
  RunMoment,
} from './core/base/fork.ts';
export type { StateView } from './core/fork/state-view.ts';
export type { InboxItem, InboxOptions, InboxView } from './client/inbox.ts';
export { LISTED_STATES, type ListedState } from './client/reading/listed-states.ts';
export type {
  CountOptions,
  ListOptions,
  PageOptions,
  RunCounts,
  RunPage,
  RunSummary,
} from './client/run-list.ts';
export type { Schedules } from './client/schedules.ts';
export type { BackfillOptions, ScheduleHandle, TriggerOptions } from './client/schedule-handle.ts';
export type {
  ScheduleChanges,
  ScheduledRun,
  ScheduleOptions,
  ScheduleOverlap,
  SchedulePolicies,
  ScheduleTimes,
} from './client/schedules/schedule-options.ts';
export type { ScheduleWords } from './client/schedules/schedule-times.ts';
export type {
  HoldingRun,
  ScheduleStart,
  ScheduleSummary,
  UnreadSchedule,
  ScheduleView,
} from './client/schedule-view.ts';
export type { PreviousRun, ScheduledStart, ScheduleMark } from './core/contract/input.ts';
export type { StepSchedule } from './core/contract/step.ts';
export {
  announcedEndpoints,
  namedEndpoints,
  type EndpointAddress,
  type FindEndpoints,
} from './client/streaming/chunk-endpoints.ts';
export type {
  ChunkSubscription,
  EventSubscription,
  ReaderSubscription,
} from './client/streaming/chunk-queue.ts';
export type { FollowEventsOptions } from './client/events/follow-events.ts';
export {
  followChunks,
  type FollowChunksOptions,
  type FollowedChunks,
} from './client/streaming/follow-chunks.ts';
export {
  followRun,
  type FollowedRun,
  type FollowRunOptions,
  type RunUpdate,
} from './client/follow-run.ts';
export type { AttemptRange, CallAttempt } from './client/reading/attempts.ts';
export type { LinkHistory } from './client/reading/histories.ts';
export type { ProgramOptions, ProgramSummary } from './client/programs.ts';
export type { RunLink } from './client/reading/links.ts';
export type { ScratchpadView } from './client/scratchpad.ts';
export type { SetupView } from './client/setup.ts';
export type { TenantOptions, Tenants, TenantSummary } from './client/tenants/tenants.ts';
export type { TenantBudget, TenantSettings, TenantView } from './core/tenant/tenant-messages.ts';
export type { DayLimits } from './core/tenant/settings.ts';
export type { ModelRate, Rate } from './core/base/rate.ts';
export type { AgentsView, AgentVersion } from './client/agents.ts';
export type { AskedAgents } from './client/streaming/ask-agents.ts';
export type {
  AgentDescription,
  AgentToolDescription,
  WorkerAgents,
} from './core/streaming/agent-description.ts';
export type { WorkerSummary } from './client/workers.ts';
export type { CurrentCall, CurrentIteration, CurrentReply } from './core/run/view.ts';
export type { RunStart } from './client/run-tree.ts';
export { MAX_START_BYTES } from './core/start/start-input.ts';
export type {
  EventOptions,
  ReadOptions,
  ResultOrPending,
  RunHandle,
  CancelOptions,
  PauseOptions,
  SendOptions,
  StreamTokenOptions,
} from './client/run-handle.ts';
export type { ChunkSource } from './client/streaming/run-stream.ts';
export type { StreamToken } from './protection/stream-token.ts';
export type { TreeOption } from './client/run-tree.ts';
export type { TreeRun } from './client/tree-run.ts';
export {
  keyRing,
  type KeyRing,
  type KeyRingOptions,
  type KeyScope,
} from './protection/key-ring.ts';
export type { KeyFor } from './protection/asked-keys.ts';
export type { ProtectionOptions } from './protection/protection.ts';
export { directoryBlobs } from './protection/blobs/directory-blobs.ts';
export { s3Blobs } from './protection/blobs/s3-blobs.ts';
export type { S3Options } from './protection/blobs/s3-bucket.ts';
export type { BlobStore, RemovedBlobs, StoredRun } from './protection/blobs/blob-store.ts';
export type { Environment } from './client/connection/temporal-environment.ts';
export {
  isOwnEvent,
  type AgentEvent,
  type EventBase,
  type EventBody,
  type EventType,
  type InputKind,
  type OwnEvent,
  type OwnEventType,
} from './core/contract/events.ts';
export type {
  CallbackBody,
  CallbackData,
  CallbackInput,
  CallbackSpec,
  CallbackType,
  OnEventInput,
} from './core/contract/callback.ts';
export type { HistoryTurn, LimitsInput } from './core/contract/input.ts';
export type {
  AdjustReceipt,
  AnswerReceipt,
  BudgetLine,
  PendingBase,
  PendingItem,
  RunPhase,
  RunOverview,
  RunStatus,
  TreeChild,
  TreeView,
} from './core/contract/messages.ts';
export type {
  EffectStatus,
  FormState,
  FormStatus,
  ProgramError,
  ProgramMemory,
  ProgramOutcome,
  ProgramProgress,
  ProgramStatus,
  ProgramView,
} from './core/contract/report.ts';
export type { AnswerOptions, Decision, StatedActor } from './core/contract/pending.ts';
export type { RetrySpec, ToolEffect, ToolSearchSpec } from './core/contract/spec.ts';
export type {
  ChildSummary,
  Step,
  StepMemory,
  StepStatus,
  ChainLength,
  StepSource,
  StepTrace,
  Usage,
} from './core/contract/step.ts';
export { isStep } from './core/contract/piping.ts';
export type { ContextOf, ContextOption, TypedAgent, ValueOf } from './core/start/agent-types.ts';
export type { AgentTime } from './core/run/time.ts';
export { unwrap } from './core/run/unwrap.ts';
export type { StrategySpec, TriggerSpec } from './core/contract/compaction.ts';
export { failureTypes, type FailureType } from './core/base/failure-types.ts';
export type { TextFormat } from './core/format/format.ts';
export type { Json, JsonObject } from './core/base/json.ts';
export type { Breach, Limit } from './core/contract/limit.ts';
export {
  textMessage,
  textOf,
  type MediaPart,
  type Message,
  type Part,
  type Task,
} from './core/base/message.ts';
export type {
  CallSettings,
  FinishReason,
  Mode,
  ModelChunk,
  ModelFunction,
  ModelIo,
  ModelReply,
  ModelRequest,
  HostedPrice,
  HostedTool,
  ModelTool,
  Prepared,
  Price,
  Reply,
  ReplyItem,
  TokenUsage,
  ToolChoice,
} from './core/contract/model.ts';
export type { RunInfo } from './core/calls/run-info.ts';
export type { CompiledAgent } from './core/contract/input.ts';
export type { Stats } from './core/contract/stats.ts';
export {
  collect,
  isChunk,
  type Chunk,
  type ChunkFilter,
  type ChunkMarker,
  type ChunkOrigin,
  type Collected,
  type EventFeed,
  type FeedMark,
  type LiveFilter,
  type LiveItem,
  type PushedEvent,
} from './core/streaming/chunk.ts';
export { blocked } from './core/base/blocked.ts';
export { isToolError, ToolError } from './core/base/tool-error.ts';
export type { Entry, EntryOrigin } from './core/contract/entry.ts';
export { usageCodes, type UsageCode } from './core/base/usage-codes.ts';
export { isUsageError, UsageError, type UsageProblem } from './core/base/usage-error.ts';
