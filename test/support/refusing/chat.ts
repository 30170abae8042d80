/** What servers of chat completions refuse: OpenAI, servers that copy it, and Mistral. */
import { objectsOf, repeated, saysJson, textOf, type Fields } from './json.ts';
import { schemaProblem, toolsProblem } from './schemas.ts';

/** Why a server of chat completions refuses `body`. */
export function chatProblem(body: Fields, server: 'openai' | 'compatible'): string | undefined {
  const messages = objectsOf(body['messages']);
  const model = textOf(body['model']);
  if (messages.length === 0) return "Invalid 'messages': empty array.";
  return (
    firstOf(messages, (message, index) => messageProblem(message, index)) ??
    reasoningProblem(messages, server, model) ??
    pairProblem(messages) ??
    toolProblem(body) ??
    formatProblem(body, model) ??
    (server === 'openai' ? settingProblem(body, model) : undefined) ??
    (/mistral/.test(model) ? mistralProblem(messages) : undefined)
  );
}

function firstOf<Item>(
  items: readonly Item[],
  problemOf: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function callsOf(message: Fields | undefined): readonly Fields[] {
  return objectsOf(message?.['tool_calls']);
}

function messageProblem(message: Fields, index: number): string | undefined {
  const { role, content } = message;
  const calls = callsOf(message);
  const at = `messages[${index}]`;
  if (role === 'assistant') {
    if (calls.length === 0 && textOf(content).trim() === '') {
      return `Invalid value for '${at}.content': expected a string, got null.`;
    }
    const long = calls.find(({ id }) => !/^.{1,40}$/.test(textOf(id)));
    if (long !== undefined) {
      return `Invalid '${at}.tool_calls[0].id': string too long. Expected a string with maximum length 40.`;
    }
  }
  if (typeof content === 'string' && content !== '' && content.trim() === '') {
    return `${at}.content: must contain non-whitespace text`;
  }
  const other = objectsOf(content).find(({ type }) => type !== 'text');
  if (other !== undefined && role !== 'user') {
    return `Invalid value: '${textOf(other['type'])}'. Supported values are: 'text'.`;
  }
  const blank = objectsOf(content).some(
    ({ type, text }) => type === 'text' && textOf(text).trim() === '',
  );
  return blank ? `${at}.content: text content blocks must contain non-whitespace text` : undefined;
}

function reasoningProblem(
  messages: readonly Fields[],
  server: 'openai' | 'compatible',
  model: string,
): string | undefined {
  // Only these read it back; the others check their schema.
  if (server === 'compatible' && /deepseek|kimi|qwen/.test(model)) {
    return firstOf(messages, ({ reasoning_content: thought }) =>
      typeof thought === 'string' && !thought.startsWith('thought of ')
        ? 'reasoning_content: invalid'
        : undefined,
    );
  }
  return firstOf(messages, (message, index) =>
    'reasoning_content' in message
      ? `messages.${index}.assistant.reasoning_content: property is unsupported`
      : undefined,
  );
}

function toolProblem(body: Fields): string | undefined {
  const tools = objectsOf(body['tools']);
  if (tools.length === 0) {
    if (body['tools'] !== undefined) return "Invalid 'tools': empty array.";
    const lone = ['tool_choice', 'parallel_tool_calls'].find((name) => name in body);
    return lone === undefined ? undefined : `'${lone}' is only allowed when 'tools' are specified.`;
  }
  return toolsProblem(
    tools.map(({ function: given }) => {
      const { name, parameters, strict } = Object(given) as Fields;
      const reader = strict === true ? 'openai-strict' : 'openai';
      return { name: textOf(name), schema: parameters, reader };
    }),
  );
}

function formatProblem(body: Fields, model: string): string | undefined {
  const format = Object(body['response_format']) as Fields;
  if (format['type'] === 'json_object' && !saysJson(body['messages'])) {
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  }
  if (format['type'] === undefined || format['type'] === 'text') return undefined;
  if (/groq|llama/.test(model) && body['tools'] !== undefined) {
    return 'json mode cannot be combined with tool/function calling';
  }
  if (format['type'] === 'json_object') return undefined;
  if (/deepseek/.test(model)) return 'This response_format type is unavailable now';
  const { schema, strict } = Object(format['json_schema']) as Fields;
  const problem = schemaProblem(schema, strict === true ? 'openai-strict' : 'openai');
  return problem && `Invalid schema for response_format 'answer': ${problem}`;
}

/** Models that reason take no settings of samples. */
function settingProblem(body: Fields, model: string): string | undefined {
  if (!/^(?:o\d|gpt-5)/.test(model)) return undefined;
  const odd = ['temperature', 'top_p', 'presence_penalty', 'max_tokens'].find((it) => it in body);
  return odd && `Unsupported parameter: '${odd}' is not supported with this model.`;
}

/** Each call has its result at once, and each result its call. */
function pairProblem(messages: readonly Fields[]): string | undefined {
  const ids = messages.flatMap((message) => callsOf(message).map(({ id }) => textOf(id)));
  const twice = repeated(ids);
  if (twice !== undefined) return `Duplicate value for 'tool_call_id' of '${twice}'`;
  let open: readonly string[] = [];
  for (const message of messages) {
    if (message['role'] === 'tool') {
      const id = textOf(message['tool_call_id']);
      if (!open.includes(id)) {
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) break;
    open = callsOf(message).map(({ id }) => textOf(id));
  }
  if (open.length === 0) return undefined;
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`;
}

/** The order and the ids of Mistral. */
function mistralProblem(messages: readonly Fields[]): string | undefined {
  let before = 'system';
  for (const message of messages) {
    const role = textOf(message['role']);
    const bad = callsOf(message).find(({ id }) => !/^[A-Za-z0-9]{9}$/.test(textOf(id)));
    if (bad !== undefined) {
      return `Tool call id was ${textOf(bad['id'])} but must be a-z, A-Z, 0-9, with a length of 9.`;
    }
    const follows = {
      system: ['system', 'user'],
      user: ['assistant'],
      tool: ['tool', 'assistant'],
    }[before] ?? ['user', 'tool'];
    if (!follows.includes(role)) return `Unexpected role '${role}' after role '${before}'`;
    before = role;
  }
  return before === 'user' || before === 'tool'
    ? undefined
    : 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant';
}
