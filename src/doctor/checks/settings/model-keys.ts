import type { DoctorCheck, DoctorProblem, NamedModel } from '../check.ts';

/** The variables from which providers of the AI SDK take their key; one of those listed is enough. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    anthropic: ['ANTHROPIC_API_KEY'],
    azure: ['AZURE_API_KEY'],
    cerebras: ['CEREBRAS_API_KEY'],
    cohere: ['COHERE_API_KEY'],
    deepinfra: ['DEEPINFRA_API_KEY'],
    deepseek: ['DEEPSEEK_API_KEY'],
    fireworks: ['FIREWORKS_API_KEY'],
    google: ['GOOGLE_GENERATIVE_AI_API_KEY'],
    groq: ['GROQ_API_KEY'],
    mistral: ['MISTRAL_API_KEY'],
    openai: ['OPENAI_API_KEY'],
    perplexity: ['PERPLEXITY_API_KEY'],
    togetherai: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    xai: ['XAI_API_KEY'],
  }),
);

/** The providers of the agent file's models have a key. */
export const modelKeys: DoctorCheck = {
  code: 'missing-key',
  area: 'settings',
  find: async ({ env, models }) => {
    const lacking = new Map<string, string[]>();
    for (const model of models) {
      const names = keysOf(model);
      if (names === undefined || names.some((name) => (env[name] ?? '') !== '')) continue;
      const which = names.map((name) => `\`${name}\``).join(' or ');
      lacking.set(which, [...(lacking.get(which) ?? []), model.id]);
    }
    return [...lacking].map(([names, ids]): DoctorProblem => ({
      severity: 'warning',
      message: `Expected ${names} to be set for ${ids.map((id) => `\`${id}\``).join(', ')}, got nothing: their calls fail, unless your code gives the key in another way.`,
      advice: 'Set it where your workers run.',
    }));
  },
};

/** The first part of `openai.responses` or `openai/gpt-5-mini`; Vertex has other credentials. */
function keysOf({ id, provider = id }: NamedModel): readonly string[] | undefined {
  if (provider.startsWith('google.vertex')) return undefined;
  return KEYS.get(provider.split(/[./]/)[0] ?? '');
}
