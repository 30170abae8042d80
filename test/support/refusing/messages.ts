/** What the Messages of Anthropic refuse. */
import { isForeign, objectsOf, repeated, textOf, type Fields } from './json.ts';
import { settingsProblem } from './messages-settings.ts';

interface Turn {
  readonly role: string;
  readonly blocks: readonly Fields[];
}

/** Why the server refuses `body`. */
export function messagesProblem(body: Fields): string | undefined {
  const turns = objectsOf(body['messages']).map(({ role, content }): Turn => ({
    role: textOf(role),
    blocks: typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content),
  }));
  if (turns.length === 0) return 'messages: at least one message is required';
  if (turns[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  for (const [index, turn] of turns.entries()) {
    const problem =
      turnProblem(turn, index, turns[index - 1]) ??
      thinkingProblem(turn, index) ??
      resultProblem(turn, index, turns[index + 1], turns[index - 1]);
    if (problem !== undefined) return problem;
  }
  const hosted = hostedProblem(turns);
  if (hosted !== undefined) return hosted;
  const ids = turns.flatMap(({ blocks }) => idsOf(blocks, 'tool_use', 'id'));
  if (repeated(ids) !== undefined) return 'messages: `tool_use` ids must be unique';
  if (turns.at(-1)?.role === 'assistant') {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
  if (ids.length > 0 && objectsOf(body['tools']).length === 0) {
    return 'Requests which include `tool_use` or `tool_result` blocks must define tools';
  }
  return thoughtFirstProblem(body, turns) ?? settingsProblem(body, turns);
}

/** A tool of the server has its call and its result, except while it waits for a call of the client. */
function hostedProblem(turns: readonly Turn[]): string | undefined {
  const all = turns.flatMap(({ blocks }) => blocks);
  const calls = idsOf(all, 'server_tool_use', 'id');
  const results = all.flatMap(({ type, tool_use_id: id }) =>
    /^(?!mcp_).+_tool_result$/.test(textOf(type)) ? [textOf(id)] : [],
  );
  const lone = results.find((id) => !calls.includes(id));
  if (lone !== undefined) return `unexpected \`tool_use_id\` found in server tool result: ${lone}`;
  const last = turns.findLast(({ role }) => role === 'assistant')?.blocks ?? [];
  const waits = last.some(({ type }) => type === 'tool_use');
  const open = waits ? idsOf(last, 'server_tool_use', 'id') : [];
  const cut = calls.find((id) => !results.includes(id) && !open.includes(id));
  return cut && `tool use with id \`${cut}\` was found without a corresponding result block`;
}

function idsOf(blocks: readonly Fields[], type: string, field: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).map((block) => textOf(block[field]));
}

function turnProblem({ role, blocks }: Turn, index: number, before?: Turn): string | undefined {
  const at = `messages.${index}`;
  if (blocks.length === 0) return `${at}: all messages must have non-empty content`;
  if (before?.role === role) return `${at}: roles must alternate between "user" and "assistant"`;
  for (const { type, text, id, input } of blocks) {
    if (type === 'text' && textOf(text).trim() === '') {
      return `${at}: text content blocks must contain non-whitespace text`;
    }
    if (type !== 'tool_use') continue;
    if (!/^[a-zA-Z0-9_-]+$/.test(textOf(id))) {
      return `${at}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    }
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      return `${at}.content.0.tool_use.input: Input should be a valid dictionary`;
    }
  }
  return undefined;
}

const THOUGHTS: readonly unknown[] = ['thinking', 'redacted_thinking'];

function thinkingProblem({ role, blocks }: Turn, index: number): string | undefined {
  const at = `messages.${index}`;
  for (const [place, { type, signature, data }] of blocks.entries()) {
    if (!THOUGHTS.includes(type)) continue;
    if (role !== 'assistant')
      return `${at}: thinking blocks are only allowed in assistant messages`;
    if (isForeign(type === 'thinking' ? signature : data, 'anthropic')) {
      return `${at}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  return THOUGHTS.includes(blocks.at(-1)?.['type'])
    ? `${at}: The final block in an assistant message cannot be \`thinking\`.`
    : undefined;
}

/** Results stand at the start of the next message, one for each call. */
function resultProblem(
  { role, blocks }: Turn,
  index: number,
  next: Turn | undefined,
  before: Turn | undefined,
): string | undefined {
  if (role === 'assistant') {
    const uses = idsOf(blocks, 'tool_use', 'id');
    const results = idsOf(next?.blocks ?? [], 'tool_result', 'tool_use_id');
    const open = uses.filter((id) => !results.includes(id));
    if (open.length === 0) return undefined;
    return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`;
  }
  const results = idsOf(blocks, 'tool_result', 'tool_use_id');
  const uses = idsOf(before?.blocks ?? [], 'tool_use', 'id');
  const lone = results.find((id) => !uses.includes(id));
  if (lone !== undefined || repeated(results) !== undefined) {
    return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${lone ?? ''}`;
  }
  const odd = blocks.some(
    ({ is_error: isError, content }) =>
      isError === true && objectsOf(content).some(({ type }) => type !== 'text'),
  );
  if (odd) return `messages.${index}: all content must be type \`text\` if \`is_error\` is true`;
  const types = blocks.map(({ type }) => type);
  const other = types.findIndex((type) => type !== 'tool_result');
  return other !== -1 && types.lastIndexOf('tool_result') > other
    ? `messages.${index}: \`tool_result\` blocks must come first`
    : undefined;
}

/** With a budget for thoughts, the turn that goes on begins with one. */
function thoughtFirstProblem(body: Fields, turns: readonly Turn[]): string | undefined {
  if (Object(body['thinking'])['type'] !== 'enabled') return undefined;
  const isSaid = ({ role, blocks }: Turn): boolean =>
    role === 'user' && blocks.some(({ type }) => type !== 'tool_result');
  const start = turns.findLastIndex(isSaid) + 1;
  const first = turns[start]?.blocks[0]?.['type'];
  if (first === undefined || THOUGHTS.includes(first)) return undefined;
  return `messages.${start}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${textOf(first)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
}
