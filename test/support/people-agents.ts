/** Agents whose runs wait for people; the same in the test's process and in one that is killed. */
import { defined } from '../../src/core/base/defined.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { external } from '../../src/define/tool/external.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { valueOf } from '../../src/core/contract/stats.ts';
import { answer, payTool } from './runs.ts';

/** How the agents of a test differ. */
export interface PeopleOptions {
  /** Ends every wait; default: none. */
  readonly timeoutMs?: number;
  /** Ends the question alone. */
  readonly questionTimeoutMs?: number;
  readonly onPay?: (amount: number) => void;
}

/** `clerk` asks, needs an approval and waits for the outside in one turn; `asker` asks one question. */
export function peopleAgents({
  timeoutMs,
  questionTimeoutMs = timeoutMs,
  onPay,
}: PeopleOptions = {}): readonly AgentDefinition[] {
  const pay = payTool(onPay, {
    approval: ({ amount }) => amount > 10,
    ...defined({ approvalTimeoutMs: timeoutMs }),
  });
  const build = defineTool({
    name: 'build',
    description: 'Builds.',
    execute: () =>
      external({
        details: { url: 'https://ci/7' },
        ...defined({ timeoutMs }),
      }),
  }) as ToolDefinition;
  const time = questionTimeoutMs === undefined ? '' : `\n    timeoutMs: ${questionTimeoutMs}`;
  const turn =
    '<thinking>Three at once.</thinking>\n<action>\n' +
    `- tool: ask_user\n  args:\n    question: Which John?\n    options: [John Smith, John Doe]${time}\n` +
    '- tool: pay\n  args:\n    amount: 50\n' +
    '- tool: build\n</action>';
  const question = '<action>\ntool: ask_user\nargs:\n  question: Which?\n</action>';
  return [
    defineAgent({
      name: 'clerk',
      mode: 'react',
      model: { id: 'm', model: async ({ iteration }) => (iteration === 1 ? turn : answer()) },
      tools: [pay, build],
      askUser: true,
    }),
    defineAgent({
      name: 'asker',
      mode: 'react',
      model: { id: 'n', model: async ({ iteration }) => (iteration === 1 ? question : answer()) },
      askUser: true,
    }),
  ];
}

/** Milliseconds in which a run stood still. */
export function pausesOf({ stats }: Step): number {
  return valueOf(stats, 'agent:wall_clock_ms') - valueOf(stats, 'agent:active_ms');
}
