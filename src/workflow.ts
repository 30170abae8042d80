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
export { failureOf, leaveWith, toWorkflowFailure } from './workflows/failures.ts';
export { firstBreach, wouldCross } from './core/limits/breach.ts';
export { compileLimits } from './core/start/compile-limits.ts';
export { mergeLimits, type CompiledLimits } from './core/limits/limits-input.ts';
export type { Breach, Limit } from './core/contract/limit.ts';
export type { Ending } from './core/run/ending.ts';
export {
  isOwnEvent,
  type AgentEvent,
  type EventBody,
  type EventType,
  type InputKind,
  type OwnEvent,
  type OwnEventBody,
  type OwnEventType,
} from './core/contract/events.ts';
export type { Host } from './core/run/host.ts';
export type { JudgeOutcome, ModelOutcome } from './core/contract/host-outcome.ts';
export type { ModelOrder, OwnRequest, TranscriptReference } from './core/contract/host-order.ts';
export type { TranscriptView } from './core/contract/transcript.ts';
export {
  createMailbox,
  EMPTY_INBOX,
  type CancelRequest,
  type Inbox,
  type Mailbox,
  type RunInput,
  type WaitingInput,
} from './core/run/inbox.ts';
export type { AgentInput, HistoryTurn, LimitsInput } from './core/contract/input.ts';
export { nextOf, runLoop, type LoopEnd } from './core/loop/loop.ts';
export {
  AGENT_WORKFLOW,
  type Adjustment,
  type AdjustReceipt,
  type LinkPage,
  type PendingItem,
  type RunPhase,
  type RunStatus,
} from './core/contract/messages.ts';
export { modeLoop } from './core/loop/mode-loop.ts';
export type { InputContent, ModeRules, RequestOptions, TurnOutcome } from './core/modes/mode.ts';
export { buildRequest, modeOf, readTurn } from './core/modes/modes.ts';
export { chatMode } from './core/modes/chat.ts';
export { reactMode } from './core/modes/react.ts';
export { extend, type OwnParts } from './core/modes/extend.ts';
export type { OwnFormat } from './core/format/own-format.ts';
export type { OwnAnswer, OwnSection, OwnSectionOptions } from './core/section/own-section.ts';
export type { OwnCall, OwnToolchain } from './core/toolchain/own-calls.ts';
export {
  callTurn,
  describeCalls,
  observationMessages,
  readCalls,
  type CallsRead,
  type ReadCallsOptions,
  type TextCallOptions,
} from './core/loop/text-calls.ts';
export type { CallTurn } from './core/calls/run-calls.ts';
export type { CallResult } from './core/modes/observation.ts';
export {
  apply,
  scratchpadMessages,
  startState,
  type Carried,
  type RunIdentity,
  type RunState,
} from './core/run/run-state.ts';
export type { KeptProgram } from './core/run/kept-program.ts';
export type {
  ProgramError,
  ProgramOutcome,
  ProgramReport,
  ProgramState,
  ProgramView,
} from './core/contract/report.ts';
export type { ProgramOrder } from './core/programs/program-context.ts';
export type { KeptTurn } from './core/run/kept-turn.ts';
export { createRun, statOf, type Run } from './core/run/run.ts';
export type {
  AgentSpec,
  AnswerSpec,
  ModelSpec,
  SectionSpec,
  TextSource,
  ToolSpec,
} from './core/contract/spec.ts';
export { stepOf, usageOf } from './core/run/step-of.ts';
export type { Step, StepStatus, StepTrace, Usage } from './core/contract/step.ts';
export {
  callsOf,
  replyText,
  type AnswerTurn,
  type CallsTurn,
  type MalformedTurn,
  type Turn,
} from './core/contract/turn.ts';
export type { CheckedValues } from './core/loop/judge.ts';
export { createWork, type NewEntry, type Next, type TurnEnd, type Work } from './core/loop/work.ts';
export type {
  PersonQuestion,
  PersonReply,
  SpawnAllOptions,
  SpawnInput,
  SpawnResult,
  SpawnRequest,
} from './core/children/spawn.ts';
export type {
  CompactionSpec,
  CompactionState,
  MessageRange,
  ReplyMark,
  StrategySpec,
  SummaryOrder,
  TriggerSpec,
} from './core/contract/compaction.ts';
export { contextTokens } from './core/ask/context-tokens.ts';
export type { CompactionPlan, PlanInput } from './core/compaction/compaction-plan.ts';
export { planOf } from './core/compaction/plan.ts';
export { fires, type TriggerInput } from './core/compaction/trigger.ts';
export { failureTypes, type FailureType } from './core/base/failure-types.ts';
export type { Block, DescribedSection, FormatReading, TextFormat } from './core/format/format.ts';
export { formatOf } from './core/format/format-of.ts';
export { markdownFormat } from './core/format/markdown.ts';
export { xmlFormat } from './core/format/xml.ts';
export { byteSize, canonicalJson, type Json, type JsonObject } from './core/base/json.ts';
export {
  textMessage,
  textOf,
  type MediaPart,
  type Message,
  type Part,
  type Role,
  type Task,
  type ToolCall,
} from './core/base/message.ts';
export type { Mode, ModelRequest, Reply, ReplyItem, TokenUsage } from './core/contract/model.ts';
export type { ReplyProblem as Problem } from './core/base/problem.ts';
export { readJson, type JsonReading } from './core/section/json-reader.ts';
export { payloadOf, type Payload } from './core/section/payload.ts';
export { sectionOf, type Section, type SectionReading } from './core/section/section.ts';
export { readYaml, type YamlReading } from './core/section/yaml-reader.ts';
export { EMPTY_STATS, valueOf, type Stats } from './core/contract/stats.ts';
export { tally } from './core/stats/tally.ts';
export type {
  JudgeOrder,
  JudgeResult,
  ReportedModelCall,
  ToolOrder,
  ToolResult,
  Verdict,
} from './core/contract/outcome.ts';
export { importanceOf, isPinned, type Entry } from './core/contract/entry.ts';
export type { TranscriptHead } from './core/contract/transcript.ts';
export { unreachable } from './core/base/unreachable.ts';
