/** What a worker registers, made from its registry, caches and archive. */
import type { ChunkPublisher } from '../core/streaming/chunk.ts';
import type { ActivityRuntime } from '../workflows/activity-options.ts';
import type { EverloopActivities } from './activity-types.ts';
import { createArchiveTranscript, type Archive } from './archive-transcript.ts';
import { createCallModel } from './call-model.ts';
import { createCallTool } from './call-tool.ts';
import type { Registry } from './definitions.ts';
import { createJudgeAnswer } from './judge-answer.ts';
import { createLoadAgent } from './load-agent.ts';
import { createPageQuery } from './page-query.ts';
import { createTranscriptSource, type TranscriptCache } from './transcript-source.ts';

/** What activities are made of; all of it lives as long as the worker. */
export interface ActivityParts {
  readonly registry: Registry;
  readonly runtime: ActivityRuntime;
  readonly cache: TranscriptCache;
  readonly chunks: ChunkPublisher;
  readonly archive: Archive;
}

/** The activities of a worker. */
export function createActivities(parts: ActivityParts): EverloopActivities {
  const { registry, runtime, cache, chunks, archive } = parts;
  const transcripts = createTranscriptSource({ cache, query: createPageQuery() });
  return {
    loadAgent: createLoadAgent(registry, runtime),
    callModel: createCallModel({ registry, transcripts, chunks }),
    callTool: createCallTool(registry),
    judgeAnswer: createJudgeAnswer(registry),
    archiveTranscript: createArchiveTranscript(archive),
  };
}
