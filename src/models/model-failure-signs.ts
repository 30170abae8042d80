/**
 * The error codes and phrases of providers, from their documentation.
 *
 * Sources: OpenAI "Error codes" (platform.openai.com/docs/guides/error-codes), Anthropic "Errors"
 * (docs.anthropic.com/en/api/errors), Google "Troubleshooting" and canonical codes
 * (ai.google.dev/gemini-api/docs/troubleshooting, google.rpc.Code), OpenRouter "Errors"
 * (openrouter.ai/docs/api-reference/errors); texts of other servers as quoted beside them.
 */

/** The HTTP status that an error code stands for; codes of all providers, in lower case. */
export function statusOfCode(code: string): number | undefined {
  return statuses.get(code);
}

const statuses: ReadonlyMap<string, number> = new Map([
  // Anthropic
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  // OpenAI
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['invalid_api_key', 401],
  ['insufficient_quota', 429],
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['internal_server_error', 500],
  // Google
  ['invalid_argument', 400],
  ['failed_precondition', 400],
  ['unauthenticated', 401],
  ['permission_denied', 403],
  ['not_found', 404],
  ['resource_exhausted', 429],
  ['internal', 500],
  ['unavailable', 503],
  ['deadline_exceeded', 504],
]);

/**
 * Whether the provider refuses what the request says: its filter, or its rules of use. Another model may
 * take it.
 */
export function refusedContent(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  if (status !== undefined && (status < 400 || status >= 500 || status === 429)) return false;
  if (codes.some((code) => contentCodes.includes(code))) return true;
  return status !== undefined && says(messages, contentPhrases);
}

const contentCodes: readonly string[] = [
  'content_filter', // Azure
  'responsibleaipolicyviolation', // Azure, inside
  'content_policy_violation', // OpenAI
  'moderation_blocked', // OpenAI, images
  'data_inspection_failed', // Alibaba
  'datainspectionfailed',
  'contentfilter',
];

const contentPhrases: readonly RegExp[] = [
  /content management policy/i, // Azure
  /content (?:filter|policy|exists risk)/i, // DeepSeek: "Content Exists Risk"
  /\b(?:was|were|been|is|got) (?:filtered|flagged|moderated)\b/i, // OpenAI, OpenRouter: "your chosen model requires moderation and your input was flagged"
  /usage polic(?:y|ies)/i, // OpenAI: "potentially violating our usage policy"
  /(?:blocked|rejected|refused) (?:by|due to|for|because of) .{0,60}(?:safety|polic|guardrail|filter|prohibited)/i,
  /safety (?:system|reasons)/i, // OpenAI, Google
  /inappropriate content/i, // Alibaba
  /violates .{0,20}(?:guidelines|rules)|failed check: safety/i, // xAI, with 403: "Content violates usage guidelines. … Failed check: SAFETY_CHECK_TYPE_BIO"
  /不安全或敏感内容/, // Zhipu
];

/**
 * Whether the credentials or the account are at fault: 401, 402 (no balance), 403, and cases with other
 * statuses. OpenAI's `insufficient_quota` is a 429 that waiting does not fix (the account must be paid);
 * Google's `API_KEY_INVALID` is a 400, and so is Anthropic's balance that is too low.
 */
export function unusableAccount(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  if (status === 401 || status === 402 || status === 403) return true;
  if (codes.some((code) => accountCodes.includes(code))) return true;
  return status !== undefined && status < 500 && says(messages, accountPhrases);
}

const accountCodes: readonly string[] = [
  'insufficient_quota', // OpenAI
  'api_key_invalid', // Google
  'exceeded_current_quota_error', // Moonshot
  'arrearage', // Alibaba
  'unsupported_country_region_territory', // OpenAI
];

const accountPhrases: readonly RegExp[] = [
  /\bapi key not valid\b/i, // Google
  /credit balance is too low/i, // Anthropic, with 400
  /insufficient (?:credits?|balance|funds)/i, // OpenRouter, DeepSeek, Zhipu
  /requires more credits/i, // OpenRouter
  /(?:billing|spending) (?:hard )?limit (?:has been |was )?(?:reached|exceeded)/i, // OpenAI
  /reached your specified (?:api )?usage limits/i, // Anthropic, with 400: a limit of the workspace
  /(?:account|organi[sz]ation|workspace|project)\b.{0,40}\b(?:deactivated|suspended|disabled|in arrears)/i,
  /(?:user )?location is not supported/i, // Google, with 400
  /not (?:available|supported) in your (?:country|region|location)/i,
  /country, region,? or territory not supported/i, // OpenAI
  /organi[sz]ation must be verified/i, // OpenAI
  /余额不足|欠费/, // Zhipu, with 429
];

/**
 * Whether the server failed, whatever its status says: waiting may mend it. A code alone does not say so
 * of a request that is refused as wrong: some servers give each error the same.
 */
export function serverFault(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  const isRefused = status === 400 || status === 422;
  const isNamed = codes.some((code) => serverCodes.includes(code));
  return (isNamed && !isRefused) || says(messages, serverPhrases);
}

const serverCodes: readonly string[] = ['server_error', 'internal_server_error', 'internal_error'];

const serverPhrases: readonly RegExp[] = [
  /the server had an error/i, // OpenAI
  /\b(?:model|engine|runner|worker) (?:process )?(?:has |was |is )?(?:crashed|unloaded|terminated)/i, // LM Studio, Ollama, with 400
  /out of memory/i, // Text Generation Inference, with 424
];

/**
 * Whether the request is longer than the model's context, or alone longer than what the account may
 * send in a minute. Refused credentials and rate limits (429) also mention tokens.
 */
export function contextTooLong(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  if (status === 401 || status === 403) return false;
  if (messages.some(isTooLargeForMinute)) return true;
  if (status === 429) return false;
  if (status === 413 || codes.some((code) => contextCodes.includes(code))) return true;
  return says(messages, contextPhrases);
}

/** OpenAI, Groq: "… on tokens per min (TPM): Limit 30000, Requested 35364." No waiting mends it. */
function isTooLargeForMinute(message: string): boolean {
  if (!/tokens per min/i.test(message)) return false;
  if (/request too large/i.test(message)) return true;
  const [, limit, requested] =
    /limit:? (\d{1,12})\b.{0,60}requested:? (\d{1,12})/i.exec(message) ?? [];
  return limit !== undefined && Number(requested) > Number(limit);
}

function says(messages: readonly string[], phrases: readonly RegExp[]): boolean {
  return messages.some((message) => phrases.some((phrase) => phrase.test(message)));
}

const contextCodes: readonly string[] = [
  'context_length_exceeded', // OpenAI, Azure, Groq, Fireworks
  'exceed_context_size_error', // llama.cpp
  'model_context_window_exceeded', // Anthropic, as a reason to stop
  'request_too_large', // Anthropic: more than 32 MB
];

const contextPhrases: readonly RegExp[] = [
  /(?:exceed|longer than|larger than|too (?:long|large|big|many)|beyond|over|above|maximum|max(?:imum)? ).{0,80}\bcontext[ _-]?(?:length|size|window|limit)/i,
  /\bcontext[ _-]?(?:length|size|window|limit).{0,80}(?:exceed|too (?:long|large|small)|overflow|reached|maximum)/i,
  /too many (?:input |prompt )?tokens/i, // Cohere
  /maximum context length/i, // OpenAI, vLLM, OpenRouter, DeepSeek: "This model's maximum context length is 8192 tokens"; Mistral
  /exceeds? the context window/i, // OpenAI responses: "Your input exceeds the context window of this model."
  /prompt is too long/i, // Anthropic: "prompt is too long: 208310 tokens > 200000 maximum"
  /exceed context limit/i, // Anthropic: "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"
  /input token count.{0,40}exceeds the maximum/i, // Google: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
  /input is too long for requested model/i, // Amazon Bedrock
  /maximum prompt length is \d+/i, // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
  /reduce the length of the messages/i, // Groq
  /exceeds the available context size/i, // llama.cpp: "the request exceeds the available context size, try increasing it"
  /greater than the context length/i, // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length."
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Moonshot: "Your request exceeded model token limit: 131072 (requested: 150000)"
  /input length exceeds .{0,20}context length/i, // Ollama
  /max_(?:completion_)?tokens must be at least 1, got -\d/i, // vLLM: what is left of the context
  /string too long.{0,60}maximum length \d{6,}/i, // OpenAI, with 400, also of one message
  /`?inputs`? tokens \+ `?max_new_tokens`? must be <=/i, // Text Generation Inference, Together
];
