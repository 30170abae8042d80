/** What the Responses of OpenAI refuse of a request that stores nothing. */
import { isForeign, objectsOf, repeated, saysJson, textOf, type Fields } from './json.ts';
import { schemaProblem, toolsProblem } from './schemas.ts';

/** Why the server refuses `body`. */
export function responsesProblem(body: Fields): string | undefined {
  const input = objectsOf(body['input']);
  if (input.length === 0) return "Missing required parameter: 'input'.";
  for (const [index, item] of input.entries()) {
    const problem =
      contentProblem(item, index) ??
      idProblem(item) ??
      reasoningProblem(item, input.slice(index + 1), textOf(body['model'])) ??
      ownReasoningProblem(item, input.slice(0, index));
    if (problem !== undefined) return problem;
  }
  return pairProblem(input) ?? toolProblem(body) ?? formatProblem(body) ?? settingProblem(body);
}

function toolProblem(body: Fields): string | undefined {
  const tools = objectsOf(body['tools']);
  if (tools.length === 0 && body['tool_choice'] !== undefined) {
    return "Tool choice is only allowed when 'tools' are specified.";
  }
  return toolsProblem(
    tools.flatMap(({ type, name, parameters, strict }) => {
      if (type !== 'function') return [];
      const reader = strict === true ? 'openai-strict' : 'openai';
      return [{ name: textOf(name), schema: parameters, reader }];
    }),
  );
}

function formatProblem(body: Fields): string | undefined {
  const { type, schema, strict } = Object(Object(body['text'])['format']) as Fields;
  if (type === 'json_object' && !saysJson(body['input'])) {
    return "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  }
  if (type !== 'json_schema') return undefined;
  const problem = schemaProblem(schema, strict === true ? 'openai-strict' : 'openai');
  return problem && `Invalid schema for response_format 'answer': ${problem}`;
}

/** What reasons takes no settings of samples; what does not takes none of reasoning. */
function settingProblem(body: Fields): string | undefined {
  if (/^gpt-[34]/.test(textOf(body['model']))) {
    const { effort } = Object(body['reasoning']) as Fields;
    if (effort !== undefined) return "Unsupported parameter: 'reasoning.effort'.";
    const included: readonly unknown[] = Array.isArray(body['include']) ? body['include'] : [];
    return included.includes('reasoning.encrypted_content')
      ? 'Encrypted content is not supported with this model.'
      : undefined;
  }
  if (!/^(?:o\d|gpt-5)/.test(textOf(body['model']))) return undefined;
  const odd = ['temperature', 'top_p'].find((name) => name in body);
  return odd && `Unsupported parameter: '${odd}' is not supported with this model.`;
}

function contentProblem({ role, content }: Fields, index: number): string | undefined {
  if (role === undefined) return undefined;
  const texts =
    typeof content === 'string' ? [content] : objectsOf(content).map(({ text }) => text);
  const blank = texts.some((text) => typeof text === 'string' && text.trim() === '');
  return blank || texts.length === 0 ? `Invalid 'input[${index}].content': empty.` : undefined;
}

/** What ids begin with; some mocks write `-` for `_`. */
const PREFIXES: Readonly<Record<string, string>> = { reasoning: 'rs', function_call: 'fc' };

function idProblem({ type, id, call_id: callId, role }: Fields): string | undefined {
  const prefix = role === 'assistant' ? 'msg' : PREFIXES[textOf(type)];
  if (prefix !== undefined && id !== undefined && !new RegExp(`^${prefix}[_-]`).test(textOf(id))) {
    return `Invalid 'input.id': '${textOf(id)}'. Expected an ID that begins with '${prefix}'.`;
  }
  if (callId !== undefined && !/^.{1,64}$/.test(textOf(callId))) {
    return `Invalid 'input.call_id': string too long. Expected a string with maximum length 64.`;
  }
  return undefined;
}

function reasoningProblem(
  { type, id, encrypted_content: encrypted }: Fields,
  after: readonly Fields[],
  model: string,
): string | undefined {
  if (type !== 'reasoning') return undefined;
  if (/^gpt-[34]/.test(model)) {
    return 'Reasoning input items can only be provided to a reasoning or computer use model.';
  }
  if (typeof encrypted !== 'string') {
    return `Item with id '${textOf(id)}' not found. Items are not persisted when 'store' is set to false.`;
  }
  if (isForeign(encrypted, 'openai')) {
    return 'The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.';
  }
  const next = after.find((item) => item['type'] !== 'reasoning');
  const isLed = next?.['role'] === 'assistant' || next?.['type'] === 'function_call';
  return isLed
    ? undefined
    : `Item '${textOf(id)}' of type 'reasoning' was provided without its required following item.`;
}

/** An id of an item that came after reasoning ends with that of the reasoning: `fc_3_of_rs_1`. */
function ownReasoningProblem({ id }: Fields, before: readonly Fields[]): string | undefined {
  const [, reasoning] = /_of_(rs_\w+)$/.exec(textOf(id)) ?? [];
  if (reasoning === undefined || before.some((item) => item['id'] === reasoning)) return undefined;
  return `Item '${textOf(id)}' was provided without its required 'reasoning' item: '${reasoning}'.`;
}

function pairProblem(input: readonly Fields[]): string | undefined {
  const idsOf = (type: string): readonly string[] =>
    input.filter((item) => item['type'] === type).map((item) => textOf(item['call_id']));
  const calls = idsOf('function_call');
  const outputs = idsOf('function_call_output');
  const twice = repeated(calls) ?? repeated(outputs);
  if (twice !== undefined) return `Duplicate item found with id ${twice}.`;
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return `No tool output found for function call ${open}.`;
  const lone = outputs.find((id) => !calls.includes(id));
  return lone === undefined
    ? undefined
    : `No tool call found for function call output with call_id ${lone}.`;
}
