/** What the demo shows while it runs: one short line for each thing that happens. */
import { styleText } from 'node:util';
import type { AgentEvent } from '../../src/index.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Shows lines with the time since the start. */
export interface Screen {
  /** `  3.2 s  worker    process 4711 serves the agent` */
  readonly say: (topic: string, text: string, style?: Style) => void;
  /** An event of a run, if people want to see it. */
  readonly event: (event: AgentEvent) => void;
  readonly plain: (text: string, style?: Style) => void;
}

/** A screen on stderr, which leaves stdout to `--json`. */
export function createScreen(): Screen {
  const startedAtMs = Date.now();
  const hasColours = process.stderr.isTTY && !process.env['NO_COLOR'];
  const paint = (style: Style | undefined, text: string): string =>
    hasColours && style !== undefined ? styleText(style, text) : text;
  const plain = (text: string, style?: Style): void =>
    void process.stderr.write(`${paint(style, text)}\n`);
  const say = (topic: string, text: string, style?: Style): void => {
    const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(5);
    plain(`${seconds} s  ${paint(style ?? 'dim', topic.padEnd(9))} ${paint(style, text)}`);
  };
  return { plain, say, event: (event) => sayEvent(event, say) };
}

function sayEvent(event: AgentEvent, say: Screen['say']): void {
  const topic = `turn ${event.iteration}`;
  switch (event.type) {
    case 'agent:model_call:after': {
      const { usage, attempts, losses = 0, error } = event;
      const tries = `${attempts > 1 ? `, attempt ${attempts}` : ''}${losses > 0 ? `, workers lost: ${losses}` : ''}`;
      const tokens = `${usage.inputTokens} + ${usage.outputTokens} tokens`;
      say(topic, error === undefined ? `model replied (${tokens}${tries})` : error.message);
      return;
    }
    case 'agent:tool_call:after':
      say(topic, `  ${event.tool}(${argsText(event.args)}) ${event.outcome}`);
      return;
    case 'agent:input':
      say(topic, 'read the new input', 'cyan');
      return;
    case 'agent:answer:judged':
      say(topic, `answer ${event.outcome}`, 'green');
      return;
    default:
  }
}

function argsText(args: unknown): string {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : [args];
  const text = values.map(String).join(', ');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
