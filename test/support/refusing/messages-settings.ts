/** What the Messages of Anthropic refuse of settings, tools and schemas. */
import { objectsOf, textOf, type Fields } from './json.ts';
import { schemaProblem, toolsProblem } from './schemas.ts';

interface Turn {
  readonly blocks: readonly Fields[];
}

/** Why the server refuses `body`, whose messages are in order. */
export function settingsProblem(body: Fields, turns: readonly Turn[]): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required';
  return (
    toolProblem(body) ??
    formatProblem(body) ??
    thinkingProblem(body) ??
    cacheProblem(body, turns) ??
    blankSystemProblem(body)
  );
}

function toolProblem(body: Fields): string | undefined {
  // Tools of the provider itself have a type and no schema.
  const own = objectsOf(body['tools']).filter((tool) => 'input_schema' in tool);
  if (body['tool_choice'] !== undefined && objectsOf(body['tools']).length === 0) {
    return 'tool_choice may only be specified while providing tools.';
  }
  return toolsProblem(
    own.map(({ name, input_schema: schema, strict }) => ({
      name: textOf(name),
      schema,
      reader: strict === true ? 'claude-strict' : 'claude',
    })),
  );
}

function formatProblem(body: Fields): string | undefined {
  const format = Object(Object(body['output_config'])['format'] ?? body['output_format']) as Fields;
  if (format['type'] !== 'json_schema') return undefined;
  const problem = schemaProblem(format['schema'], 'claude-strict');
  return problem && `output_config.format.schema: ${problem}`;
}

function thinkingProblem(body: Fields): string | undefined {
  const { type, budget_tokens: budget } = Object(body['thinking']) as Fields;
  if (body['temperature'] !== undefined && body['top_p'] !== undefined) {
    return '`temperature` and `top_p` cannot both be specified for this model.';
  }
  if (type !== 'enabled') return undefined;
  if (Number(body['max_tokens']) <= Number(budget)) {
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  }
  if (Number(budget) < 1_024)
    return 'thinking.enabled.budget_tokens: Input should be at least 1024';
  if (![undefined, 1].includes(body['temperature'] as number | undefined)) {
    return '`temperature` may only be set to 1 when thinking is enabled.';
  }
  const { type: choice } = Object(body['tool_choice']) as Fields;
  return choice === 'any' || choice === 'tool'
    ? 'Thinking may not be enabled when tool_choice forces tool use.'
    : undefined;
}

/** Blocks at which the cache of a prompt may end. */
const MAX_CACHED = 4;

function cacheProblem(body: Fields, turns: readonly Turn[]): string | undefined {
  const blocks = [
    ...objectsOf(body['tools']),
    ...objectsOf(body['system']),
    ...turns.flatMap((turn) => turn.blocks),
  ];
  const cached = blocks.filter((block) => block['cache_control'] !== undefined);
  if (cached.length > MAX_CACHED) {
    return `A maximum of 4 blocks with cache_control may be provided. Found ${cached.length}.`;
  }
  const odd = cached.find(({ type }) => type === 'thinking' || type === 'redacted_thinking');
  return odd && `cache_control: Extra inputs are not permitted on \`${textOf(odd['type'])}\``;
}

function blankSystemProblem(body: Fields): string | undefined {
  const blank = objectsOf(body['system']).some(({ text }) => textOf(text).trim() === '');
  return blank ? 'system: text content blocks must contain non-whitespace text' : undefined;
}
