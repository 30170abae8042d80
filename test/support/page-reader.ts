/** An agent that reads a page in each iteration, as large as a run with a blob store takes. */
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { act, answer } from './runs.ts';

/** How the agent `reader` reads. */
export interface PageReader {
  /** It answers `read` in the last one. */
  readonly iterations: number;
  /** Awaited before the reply of each iteration. Default: nothing. */
  readonly before?: (iteration: number) => Promise<void>;
  /** The page that `page 1`, `page 2`, … names. */
  readonly page: (query: string) => string;
}

/** The agent `reader`, which has no limits and compacts nothing. */
export function pageReader({ iterations, before, page }: PageReader): AgentDefinition {
  return defineAgent({
    name: 'reader',
    mode: 'react',
    model: {
      id: 'm',
      model: async ({ iteration }) => {
        await before?.(iteration);
        return iteration < iterations ? act(`page ${iteration}`) : answer('read');
      },
    },
    tools: [
      defineTool({
        name: 'search',
        description: 'Finds a page.',
        maxResultBytes: 4_000_000,
        parameters: z.object({ query: z.string() }),
        execute: ({ query }) => page(query),
      }),
    ],
    limits: 'unlimited',
    compaction: false,
  });
}
