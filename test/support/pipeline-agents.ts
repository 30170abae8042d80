/** A pipeline that tests of a server run, also in a process of their own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { humanStep } from '../../src/define/pipeline/human-step.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { stage } from './pipelines.ts';
import { abortOf } from './runs.ts';

/** A stage of each kind; models take their time. */
export function pressAgent(latencyMs = 0): AgentDefinition {
  const slow = (name: string): AgentDefinition =>
    stage(name, async ({ messages }, { signal }) => {
      await Promise.race([sleep(latencyMs, undefined, { ref: false }), abortOf(signal)]);
      if (signal.aborted) throw signal.reason;
      return `${name}(${lastText(messages)})`;
    });
  const printer = stage('printer', ({ messages }) => `printed ${lastText(messages)}`, {
    prompt: '{{answer}}: {{facts}}, {{style}}',
  });
  return pipeline(
    'press',
    [
      slow('writer'),
      [slow('facts'), slow('style')],
      humanStep({ question: 'Print {{facts}}?', options: ['yes', 'no'] }),
      printer,
    ],
    { description: 'Writes and prints.', limits: { modelCalls: 10 } },
  );
}

/** What the press gives for the task `x` and the answer `yes`. */
export const PRESS_VALUE = 'printed yes: facts(writer(x)), style(writer(x))';

function lastText(messages: Parameters<ModelFunction>[0]['messages']): string {
  const last = messages.at(-1);
  return last === undefined ? '' : textOf(last);
}
