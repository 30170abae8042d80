/**
 * The `type` of every failure that leaves a run or an activity. Clients, retry policies and
 * dashboards depend on these names. docs/errors.md is generated from this table.
 */

/** Failure types and their meaning. */
export const failureTypes = {
  model_error: 'The model call failed after all retries and fallbacks.',
  model_auth: 'The provider refused the credentials, or the account may not use the model.',
  model_request_refused: 'The provider refused the request.',
  blocked: 'A guard of the agent refused the task, or a middleware the request or the reply.',
  model_refused: 'The model or its provider refused to answer: a filter, or its own judgement.',
  answer_cut:
    'The answer was cut off by the length limit, also after the model was asked to go on.',
  context_too_long: "The request is longer than the model's context window.",
  unparsable_reply: 'A reply could not be read, and the agent is set to fail in this case.',
  json_parse_error: 'No reply of an agent in mode `json` contained JSON.',
  validation_error: 'No answer of an agent in mode `json` fitted its signature and was accepted.',
  empty_response: 'The reply of an agent in mode `text` was blank.',
  value_too_large: 'The Step would be larger than 256 KB, with a blob store 4 MB.',
  validator_failed: 'A validator or a guard threw after all retries.',
  state_too_large: 'The state of the run does not fit into a hand-over.',
  agent_not_found: 'No worker knows an agent of this name.',
  extension_not_found:
    'No worker has a format, section, toolchain or answer of its own that the agent names.',
  mcp_unavailable: 'An MCP server that the agent needs could not be reached.',
  invalid_input: 'The input of the run is not valid.',
  item_unknown: 'Nothing of this id waits, or has ever waited, for an answer.',
  item_settled: 'What an answer is for was ended before.',
  fork_moment: 'The source of a fork has no such moment.',
  fork_edit: 'An edit of a fork does not fit its source.',
  fork_definition: 'The agent of today is of another mode than the source of a fork.',
  fork_effects: 'A fork does not say what its calls do, and those of its source changed something.',
  fork_workflows: 'This worker has other workflows than those that ran the source of a fork.',
  history_gone: 'The service has forgotten the history of a moment.',
  replay_failed: 'The code of this worker does not replay the history of a moment.',
  run_not_found: 'There is no run with the id of the source.',
  not_an_agent: 'The source of a fork is no run of an agent.',
  template_error: 'The template of the task could not be filled in.',
  chained_failure:
    'The Step given as context is not a success, or a stage of a pipeline did not succeed.',
  loop_error: "The agent's own loop threw.",
  compaction_failed: 'A compaction strategy failed.',
  internal: 'An unexpected error, which is a bug in Everloop.',
  transcript_unavailable:
    'A model activity could not get the transcript of its run; it is retried.',
  tool_failed: 'A tool threw something other than a ToolError; it is retried by its policy.',
  not_here:
    'A worker lacks what a call needs, and nothing was begun; the run waits for another one.',
  message_too_large:
    'What is sent is too large for the service or for the history; it fails, and the run goes on.',
  not_local:
    'A call that was tried within a workflow task does not fit there; it runs again as a call of its own.',
  rate_wait:
    'The rate or the concurrency of a model has no room for a request; the run waits for its moment.',
  operator_needed:
    'Too many workers died during a call of a tool; the run waits until an operator has it tried again.',
  callback_failed:
    'A callback was not delivered; its workflow ends with this after a day, and the run goes on.',
  keys_missing:
    'A worker lacks a key that decrypts what the run holds; the run waits for a worker that has it.',
  blob_missing: 'A large payload is not in the blob store; the run waits until it is back.',
  blob_damaged: 'A large payload in the blob store was changed; the run waits until it is whole.',
  blob_unreadable:
    'The blob store did not give a large payload; the run waits until it works again.',
  blob_too_large: 'A payload is larger than a blob store takes.',
  blob_store_failed:
    'The blob store did not take a large payload: it is full, read-only, slow or gone; this is retried.',
  payload_damaged:
    'A payload was changed, or another key of the same id encrypted it; it is retried.',
  worker_shutdown: 'The worker stopped while an activity ran; it is retried on another one.',
} as const;

/** The `type` of a failure. */
export type FailureType = keyof typeof failureTypes;

/** The failure types that a model call can end with. */
export type ModelFailureCode =
  | 'model_error'
  | 'model_auth'
  | 'model_request_refused'
  | 'model_refused'
  | 'context_too_long'
  | 'blocked';

/** Whether `type` is a failure type of this table. */
export function isFailureType(type: unknown): type is FailureType {
  return typeof type === 'string' && Object.hasOwn(failureTypes, type);
}
