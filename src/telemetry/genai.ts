/**
 * Names of attributes: those of OpenTelemetry's conventions for generative AI (repository
 * `semantic-conventions-genai`, November 2026, all in development), and our own. They are written
 * here because the npm package with the conventions lags and renames.
 */

/** Attribute names. */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agentName: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  /** What Langfuse groups traces by. */
  session: 'session.id',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  mcpMethod: 'mcp.method.name',
  mcpVersion: 'mcp.protocol.version',
  transport: 'network.transport',
  errorType: 'error.type',
  httpStatus: 'http.response.status_code',
  mcpServer: 'everloop.mcp.server',
  runId: 'everloop.run.id',
  workflowId: 'everloop.workflow.id',
  seq: 'everloop.seq',
  iteration: 'everloop.iteration',
  path: 'everloop.path',
  depth: 'everloop.depth',
  status: 'everloop.status',
  reason: 'everloop.reason',
  limit: 'everloop.limit',
  purpose: 'everloop.purpose',
  attempts: 'everloop.attempts',
  losses: 'everloop.losses',
  costMicroUsd: 'everloop.cost_micro_usd',
  cached: 'everloop.cached',
  outcome: 'everloop.outcome',
  fuel: 'everloop.fuel',
  epoch: 'everloop.epoch',
  code: 'everloop.code',
  link: 'everloop.link',
  historyEvents: 'everloop.history.events',
  historyBytes: 'everloop.history.bytes',
  transcript: 'everloop.transcript',
  queueMs: 'everloop.queue_ms',
  firstChunkMs: 'everloop.first_chunk_ms',
  retryAfterMs: 'everloop.retry_after_ms',
} as const;

/** The providers of the AI SDK whose names differ from those of the conventions. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  'google-generative-ai': 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  'google-vertex': 'gcp.vertex_ai',
  'amazon-bedrock': 'aws.bedrock',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** The provider as the conventions name it, from what the AI SDK says: `openai.responses`. */
export function providerName(sdkName: string): string {
  const [name = ''] = sdkName.split(/[.:/]/);
  return PROVIDERS[name] ?? name;
}
