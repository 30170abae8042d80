/**
 * The built-in loop of an agent: of its mode, its pipeline, its fan-out or its compiled program.
 */
import { compiledLoop } from './compiled-loop.ts';
import { evaluationLoop } from './evaluation-loop.ts';
import { fanOutLoop } from './fan-out-loop.ts';
import { modeLoop } from './mode-loop.ts';
import { modeOf } from '../modes/modes.ts';
import { pipelineLoop } from './pipeline-loop.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { Next } from './work.ts';

/** The iteration that `spec` asks for. */
export function nextOf(spec: AgentSpec): Next {
  if (spec.pipeline !== undefined) return pipelineLoop(spec.pipeline);
  if (spec.fanOut !== undefined) return fanOutLoop(spec.fanOut);
  if (spec.evaluation !== undefined) return evaluationLoop(spec.evaluation);
  if (spec.compiled !== undefined) return compiledLoop;
  return modeLoop(modeOf(spec));
}
