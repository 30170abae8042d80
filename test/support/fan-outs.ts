/** Fan-outs for tests: readers that say what they read, and lists of parts to read. */
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { stage, type StagePlay } from './pipelines.ts';

/** `part 1` to `part {count}`. */
export function partsTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `part ${index + 1}`);
}

/** An agent whose value is `read {task}`, unless `play` says otherwise. */
export function readerAgent(
  play: StagePlay = ({ messages }) => {
    const [part] = messages.at(-1)?.parts ?? [];
    return `read ${part?.type === 'text' ? part.text : ''}`;
  },
  options: Partial<AgentOptions> = {},
): AgentDefinition {
  return stage('reader', play, { prompt: '{{task}}', ...options });
}
