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
 * Whether the credentials or the account are at fault: 401, 402 (no balance), 403, and two cases
 * with other statuses. OpenAI's `insufficient_quota` is a 429 that waiting does not fix (the
 * account must be paid); Google's `API_KEY_INVALID` is a 400.
 */
export function unusableAccount(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  if (status === 401 || status === 402 || status === 403) return true;
  if (codes.includes('insufficient_quota') || codes.includes('api_key_invalid')) return true;
  return status === 400 && messages.some((message) => /\bapi key not valid\b/i.test(message));
}

/**
 * Whether the request is longer than the model's context, by code or by phrase. Refused credentials
 * and rate limits (429) also mention tokens, so they are excluded.
 */
export function contextTooLong(
  status: number | undefined,
  codes: readonly string[],
  messages: readonly string[],
): boolean {
  if (status === 429 || status === 401 || status === 403) return false;
  if (status === 413 || codes.some((code) => contextCodes.includes(code))) return true;
  return messages.some((message) => contextPhrases.some((phrase) => phrase.test(message)));
}

const contextCodes: readonly string[] = [
  'context_length_exceeded', // OpenAI, Azure, Groq, Fireworks
  'exceed_context_size_error', // llama.cpp
  'model_context_window_exceeded', // Anthropic, as a reason to stop
  'request_too_large', // Anthropic: more than 32 MB
];

const contextPhrases: readonly RegExp[] = [
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
  /`?inputs`? tokens \+ `?max_new_tokens`? must be <=/i, // Text Generation Inference, Together
];
