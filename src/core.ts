/**
 * `everloop/core`: the agent's logic as pure functions, without a service, a clock or a network.
 * For tools, tests and experiments; safe everywhere, even in workflow code.
 */
export type { AgentEvent, EventBody, EventType } from './core/contract/events.ts';
export type { Host } from './core/run/host.ts';
export { nextOf, runLoop, type LoopEnd } from './core/loop/loop.ts';
export { buildRequest, modeOf, readTurn } from './core/modes/modes.ts';
export { apply, startState, type RunIdentity, type RunState } from './core/run/run-state.ts';
export { createRun, type Run } from './core/run/run.ts';
export type { AgentSpec } from './core/contract/spec.ts';
export { stepOf } from './core/run/step-of.ts';
export type { Step } from './core/contract/step.ts';
export type { Turn } from './core/contract/turn.ts';
export { EMPTY_DIGEST, rollDigest, type Digest } from './core/base/digest.ts';
export { failureTypes, isFailureType, type FailureType } from './core/base/failure-types.ts';
export type { Block, FormatReading, TextFormat } from './core/format/format.ts';
export { markdownFormat } from './core/format/markdown.ts';
export { xmlFormat } from './core/format/xml.ts';
export { byteSize, canonicalJson, type Json, type JsonObject } from './core/base/json.ts';
export { explainBreach, firstBreach, wouldCross } from './core/limits/breach.ts';
export { compileLimits } from './core/start/compile-limits.ts';
export { mergeLimits } from './core/limits/limits-input.ts';
export { DEFAULT_LIMITS } from './core/limits/default-limits.ts';
export type { Breach, Limit } from './core/contract/limit.ts';
export { textMessage, textOf, type Message } from './core/base/message.ts';
export { costMicroUsd, priceUsage, type PricedUsage } from './core/model/cost.ts';
export type { ModelReply, ModelRequest, Price, Reply, TokenUsage } from './core/contract/model.ts';
export { readReply } from './core/model/read-reply.ts';
export { addUsage, noUsage, readUsage } from './core/model/usage.ts';
export { readJson, type JsonReading } from './core/section/json-reader.ts';
export { readYaml, type YamlReading } from './core/section/yaml-reader.ts';
export {
  statKeyInfo,
  STAT_KEYS,
  type StatKeyInfo,
  type StatKeyRow,
} from './core/stats/stat-keys.ts';
export { parseExact, toSignature } from './core/signature/from-json-schema.ts';
export { providerSchema, validationSchema } from './core/signature/json-schema.ts';
export {
  explainSignature,
  parseSignature,
  type SignatureReading,
} from './core/signature/parse-signature.ts';
export { printSignature } from './core/signature/print-signature.ts';
export type { Signature, SignatureField, SignatureType } from './core/contract/signature.ts';
export { EMPTY_STATS, valueOf, type Stats } from './core/contract/stats.ts';
export { tally } from './core/stats/tally.ts';
export { collect, isChunk, type Chunk, type ChunkMarker } from './core/streaming/chunk.ts';
export { expandTemplate } from './core/template/expand-template.ts';
export { parseTemplate } from './core/template/parse-template.ts';
export { jsonToolchain } from './core/toolchain/json-calls.ts';
export type { CallsReading, Toolchain } from './core/toolchain/toolchain.ts';
export { yamlToolchain } from './core/toolchain/yaml-calls.ts';
export type { Entry } from './core/contract/entry.ts';
export { usageCodes, type UsageCode } from './core/base/usage-codes.ts';
export { isUsageError, UsageError, type UsageProblem } from './core/base/usage-error.ts';
