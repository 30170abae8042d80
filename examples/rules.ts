/** The rule of both scenarios: facts come from tools, never from the model. */
export const SCENARIO_RULES: string =
  'Read the policy before you act. State only what a tool or the customer told you. Never make ' +
  'up ids, prices, times or statuses. If something is missing, say so.';
