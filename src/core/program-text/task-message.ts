/** The first message to a model that writes programs: its data, its tools and the task. */
import type { AgentSpec, ProgramSizes, ToolSpec } from '../contract/spec.ts';
import type { JsonObject } from '../base/json.ts';
import { describedFields } from '../signature/describe-output.ts';
import { promptType } from '../signature/print-signature.ts';
import { ASK_TOOL, askProgramSchema } from '../toolchain/ask-user.ts';
import { dataLines } from './data-lines.ts';
import { framedLine } from './framing.ts';
import { hiddenTexts, withoutHidden } from './hidden-values.ts';
import { exampleLisp } from './lisp-example.ts';
import { toolLines } from './tool-lines.ts';

/** The material of the first message. */
export interface TaskMessage {
  readonly spec: AgentSpec;
  readonly sizes: ProgramSizes;
  /** Hidden keys included. */
  readonly context: JsonObject;
  readonly contextDescriptions: { readonly [name: string]: string };
  /** Definitions that the run begins with. */
  readonly memory: readonly { readonly name: string; readonly preview: string }[];
  readonly task: string;
  /** False on the last turns: tools still work but are not listed. */
  readonly withTools: boolean;
}

/** The text of the message; empty parts are left out. */
export function taskMessage(given: TaskMessage): string {
  const { spec, sizes, context, contextDescriptions, memory, task, withTools } = given;
  const hidden = hiddenTexts([context]);
  return [
    ...(withTools ? toolLines(spec.tools.map(asProgramsSee)) : []),
    ...dataLines(context, contextDescriptions, sizes),
    ...(memory.length === 0
      ? []
      : [
          ';; memory',
          ...memory.map(
            ({ name, preview }) => `${name} = ${framedLine(withoutHidden(preview, hidden))}`,
          ),
        ]),
    ...answerLines(spec),
    ...(task === '' ? [] : ['<task>', task.replaceAll(/<\/task/gi, '<\\/task'), '</task>']),
  ].join('\n');
}

/** In a program, `ask_user` accepts more: its options may be any values. */
function asProgramsSee(tool: ToolSpec): ToolSpec {
  return tool.name === ASK_TOOL ? { ...tool, parameters: askProgramSchema } : tool;
}

function answerLines({ answer: { output } }: AgentSpec): readonly string[] {
  if (output === undefined) return [';; answer', 'any    e.g. (return "text")'];
  const words = describedFields(output)
    .filter((line) => line.includes('): '))
    // A list is not wrapped here, unlike where JSON is asked for.
    .map((line) => `;   ${framedLine(line.slice(2).replace('`items[]', '`[]'))}`);
  return [';; answer', `${promptType(output)}    e.g. (return ${exampleLisp(output)})`, ...words];
}
