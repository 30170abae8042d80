/**
 * An agent that reads a long document by calling itself. It reads a part that is short enough, and
 * splits a longer one into four, each a run of its own. No model ever sees more than a hundred
 * lines, however long the document is.
 */
import { z } from 'zod';
import { defineAgent, defineTool, selfTool } from '../../src/index.ts';
import type { AgentDefinition, AgentModel } from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';
import { readLines } from './script.ts';
import { MAX_LINES, readLog } from './ship-log.ts';

const readTool = defineTool({
  name: 'read',
  description: `Reads lines of the log, at most ${MAX_LINES} at a time.`,
  parameters: z.object({ from: z.int(), to: z.int() }),
  effect: 'read',
  local: true,
  execute: ({ from, to }) => readLog(from, Math.min(to, from + MAX_LINES - 1)),
});

/** The reader with `model`. */
export function readerWith(model: AgentModel): AgentDefinition {
  return defineAgent({
    name: 'reader',
    mode: 'chat',
    model,
    description: 'Counts the storms in lines of the log and finds the worst.',
    signature: '(from :int, to :int) -> {storms :int, strongest :int}',
    instructions:
      `Count the storms in lines {from} to {to} of a ship's log, and give the strongest wind of them, 0 ` +
      `without any. When there are at most ${MAX_LINES} lines, read them. Else split them into four parts ` +
      'of about the same length, call `self` for each of them at once, and put together what they give.',
    prompt: 'Lines {{from}} to {{to}}.',
    tools: [readTool, selfTool()],
    limits: { depth: 4, children: 500, modelCalls: 2_000 },
  });
}

/** The reader for `everloop run`, with a real model when OPENAI_API_KEY is set. */
export const reader: AgentDefinition = readerWith(exampleModel(readLines));
