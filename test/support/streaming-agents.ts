/** Agents whose models stream at the pace of a test: they wait for files of a folder. */
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelFunction, ModelIo, ModelReply } from '../../src/core/contract/model.ts';

/** What the agents say in their iterations. */
export const SAID = {
  first: ['<action>\n{tool: ', 'nothing, args: {}}', '\n</action>'],
  second: ['<answer>', 'forty', '-two', '</answer>'],
} as const;

/** What a model thinks while it waits. */
export const TICK = '.';

/** Settles when `file` is there, thinking aloud until then; rejects when the call is aborted. */
function whenThere(file: string, { signal, onChunk }: ModelIo): Promise<void> {
  return new Promise((resolve, reject) => {
    const ticking = setInterval(() => onChunk({ kind: 'reasoning', delta: TICK }), 20);
    const watcher = watch(join(file, '..'), () => look());
    const settle = (then: () => void): void => {
      clearInterval(ticking);
      watcher.close();
      then();
    };
    const look = (): void => {
      if (existsSync(file)) settle(resolve);
    };
    signal.addEventListener('abort', () => settle(() => reject(new Error('aborted'))), {
      once: true,
    });
    look();
  });
}

/**
 * `talker` calls an unknown tool, then answers. It begins an iteration when there is a file
 * `begin-{iteration}-{attempt}` in `gateDir`, and stops in the middle of its answer until there is a
 * file `end-{attempt}`. What it thinks while it waits tells a test that its reader is connected.
 */
export function streamingAgents(gateDir: string): readonly AgentDefinition[] {
  const model: ModelFunction = async ({ iteration, attempt }, io) => {
    const { onChunk } = io;
    const [start = '', ...rest] = iteration === 1 ? SAID.first : SAID.second;
    await whenThere(join(gateDir, `begin-${iteration}-${attempt}`), io);
    onChunk({ kind: 'text', delta: start });
    if (iteration === 2) await whenThere(join(gateDir, `end-${attempt}`), io);
    for (const delta of rest) onChunk({ kind: 'text', delta });
    const reply: ModelReply = {
      content: [start, ...rest].join(''),
      usage: { inputTokens: 100, outputTokens: 10 },
    };
    return reply;
  };
  return [defineAgent({ name: 'talker', mode: 'react', model })];
}
