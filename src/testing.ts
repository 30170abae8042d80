/**
 * `everloop/testing`: run an agent in the test's own process, with a scripted model and a fake
 * clock. For tests; needs no server and no provider.
 *
 * @example
 * const script = scriptedModel(['42']);
 * const step = await startInMemory({ agent: oracleWith(script.model), task: 'What is it?' }).result;
 * script.assertDone();
 */
export type { AnswerOptions } from './core/contract/pending.ts';
export {
  callInMemory,
  type CallInMemoryOptions,
  type MemoryCalls,
} from './testing/call-in-memory.ts';
export { formatCases } from './testing/cases/format-cases.ts';
export type { PartCase } from './testing/cases/part-case.ts';
export {
  answerCases,
  sectionCases,
  toolchainCases,
  type CallSamples,
  type SectionSamples,
} from './testing/cases/reader-cases.ts';
export { createFakeClock, type FakeClock } from './testing/fake-clock.ts';
export { createMemoryHost, type MemoryHostParts, type MemoryTree } from './testing/memory-host.ts';
export { listServers, type ListedServers } from './testing/listed-servers.ts';
export type {
  HandoverPlace,
  MemoryForkOptions,
  MemoryRun,
  StepOrPending,
  TreeMessage,
} from './testing/memory-run.ts';
export { startInMemory, type MemoryRunOptions } from './testing/run-in-memory.ts';
export { scriptedModel, type ScriptedModel, type ScriptedReply } from './testing/scripted-model.ts';
