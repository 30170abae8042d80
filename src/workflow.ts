/**
 * `everloop/workflow`: the parts for workflows of your own. For workflow code only: everything here
 * may run in the sandbox, and nothing here reaches Node, a provider or a worker.
 *
 * @example
 * // workflows.ts: the agent workflow with a loop that asks twice and takes the longer reply
 * import { modeOf, runAgentWorkflow, type Next } from 'everloop/workflow';
 * export const twice = (payload: unknown) => runAgentWorkflow(payload, () => twiceAsked);
 */
export { createTemporalHost, type TemporalHost } from './workflows/temporal-host.ts';
export { agent, runAgentWorkflow } from './workflows/agent.ts';
export { failureOf, leaveWith, throughTheOneExit } from './workflows/failures.ts';
export { firstBreach, wouldCross } from './core/limits/breach.ts';
export { compileLimits, mergeLimits, type CompiledLimits } from './core/limits/compile-limits.ts';
export type { Breach, Limit } from './core/limits/limit.ts';
export type { Ending } from './core/agent/ending.ts';
export {
  isOwnEvent,
  type AgentEvent,
  type EventBody,
  type EventType,
  type InputKind,
  type OwnEvent,
  type OwnEventBody,
  type OwnEventType,
} from './core/agent/events.ts';
export type {
  Host,
  JudgeOutcome,
  ModelOrder,
  ModelOutcome,
  OwnRequest,
  TranscriptReference,
  TranscriptView,
} from './core/agent/host.ts';
export {
  createMailbox,
  EMPTY_INBOX,
  type CancelRequest,
  type Inbox,
  type Mailbox,
  type RunInput,
  type WaitingInput,
} from './core/agent/inbox.ts';
export type { AgentInput, HistoryTurn, LimitsInput } from './core/agent/input.ts';
export { runLoop, type LoopEnd } from './core/agent/loop.ts';
export {
  AGENT_WORKFLOW,
  type Adjustment,
  type AdjustReceipt,
  type LinkPage,
  type PendingItem,
  type RunPhase,
  type RunStatus,
} from './core/agent/messages.ts';
export { modeLoop } from './core/agent/mode-loop.ts';
export type { InputContent, ModeRules, RequestOptions, TurnOutcome } from './core/agent/mode.ts';
export { buildRequest, modeOf, readTurn } from './core/agent/modes/modes.ts';
export { chatMode } from './core/agent/modes/chat.ts';
export { reactMode } from './core/agent/modes/react.ts';
export { nextOf } from './core/agent/next-of.ts';
export type { CallResult } from './core/agent/observation.ts';
export {
  apply,
  scratchpadMessages,
  startState,
  type Carried,
  type RunIdentity,
  type RunState,
} from './core/agent/run-state.ts';
export type { KeptProgram } from './core/agent/program/kept-program.ts';
export type {
  ProgramError,
  ProgramOutcome,
  ProgramReport,
  ProgramState,
  ProgramView,
} from './core/agent/program/report.ts';
export type { ProgramOrder } from './core/agent/program/running-program.ts';
export type { KeptTurn } from './core/agent/kept-turn.ts';
export { createRun, isStopped, statOf, type Run } from './core/agent/run.ts';
export type {
  AgentSpec,
  AnswerSpec,
  ModelSpec,
  SectionSpec,
  TextSource,
  ToolSpec,
} from './core/agent/spec.ts';
export { stepOf, usageOf } from './core/agent/step-of.ts';
export type { Step, StepStatus, StepTrace, Usage } from './core/agent/step.ts';
export {
  replyText,
  type AnswerTurn,
  type CallsTurn,
  type MalformedTurn,
  type Turn,
} from './core/agent/turn.ts';
export {
  createWork,
  type CheckedValues,
  type NewEntry,
  type Next,
  type TurnEnd,
  type Work,
} from './core/agent/work.ts';
export type {
  PersonQuestion,
  PersonReply,
  SpawnAllOptions,
  SpawnInput,
  SpawnResult,
  SpawnWish,
} from './core/agent/spawn.ts';
export type {
  CompactionSpec,
  CompactionState,
  MessageRange,
  ReplyMark,
  StrategySpec,
  SummaryOrder,
  TriggerSpec,
} from './core/compaction/compaction.ts';
export { contextTokens } from './core/compaction/context-tokens.ts';
export type { CompactionPlan, PlanInput } from './core/compaction/compaction-plan.ts';
export { planOf } from './core/compaction/plan.ts';
export { fires, type TriggerInput } from './core/compaction/trigger.ts';
export { failureTypes, type FailureType } from './core/failure-types.ts';
export type { Block, DescribedSection, FormatReading, TextFormat } from './core/format/format.ts';
export { formatOf } from './core/format/format-of.ts';
export { markdownFormat } from './core/format/markdown.ts';
export { xmlFormat } from './core/format/xml.ts';
export { byteSize, canonicalJson, type Json, type JsonObject } from './core/json.ts';
export {
  textMessage,
  textOf,
  type MediaPart,
  type Message,
  type Part,
  type Role,
  type Task,
  type ToolCall,
} from './core/message.ts';
export type { Mode, ModelRequest, Reply, TokenUsage } from './core/model/model.ts';
export type { Problem } from './core/problem.ts';
export { readJson, type JsonReading } from './core/section/json-reader.ts';
export { payloadOf, type Payload } from './core/section/payload.ts';
export { sectionOf, type Section, type SectionReading } from './core/section/section.ts';
export { readYaml, type YamlReading } from './core/section/yaml-reader.ts';
export { EMPTY_STATS, valueOf, type Stats } from './core/stats/stats.ts';
export { tally } from './core/stats/tally.ts';
export type {
  JudgeOrder,
  JudgeResult,
  ReportedModelCall,
  ToolOrder,
  ToolResult,
  Verdict,
} from './core/toolchain/outcome.ts';
export { importanceOf, isPinned, type Entry } from './core/transcript/entry.ts';
export type { TranscriptHead } from './core/transcript/transcript.ts';
export { unreachable } from './core/unreachable.ts';
