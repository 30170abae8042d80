/** What providers take and refuse, by protocol and by provider, as a table. */
import type { Author } from '../../core/base/message.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { isOpenAiCompatible } from '../../define/model/openai-compatible.ts';

/** What a model takes. */
export interface Traits {
  /** The model; what others wrote for their providers is left out. */
  readonly author: Author;
  /** `own`: what it or another reasoning model of its provider wrote · `none`: no reasoning at all. */
  readonly reasoning: 'own' | 'none';
  /** Whether it takes reasoning that another model of its provider wrote. */
  readonly reasons: boolean;
  /** What ids of calls look like. */
  readonly callIds: RegExp;
  /** Characters of an id that is made for a call. */
  readonly callIdLength: number;
  /** Whether reasoning must be followed by what came after it: its text or its call. */
  readonly pairsReasoning: boolean;
  /** Whether items that the provider ran itself go back to it. */
  readonly hosted: boolean;
  /** Whether a signature may come on a text without a word. */
  readonly signsBlankText: boolean;
  /** Whether a message of the user may follow results at once. */
  readonly userAfterResults: boolean;
  /** Whether messages of the user and of the assistant take turns. */
  readonly alternates: boolean;
  /** Whether the conversation begins with a message of the user. */
  readonly userFirst: boolean;
  /** Whether system messages are only at the start. */
  readonly systemFirst: boolean;
  /** Whether results may have media. */
  readonly resultMedia: boolean;
  /** Whether messages of the assistant may have files. */
  readonly assistantFiles: boolean;
  /** The types of media that it takes; undefined: its adapter says. */
  readonly media?: RegExp;
  /** Media by URL that it takes besides those that its adapter names. */
  readonly mediaUrls?: RegExp;
  /** Media by URL, as the adapter names them. */
  readonly urls: readonly UrlRule[];
}

/** Addresses from which a model takes media of a type. */
export interface UrlRule {
  /** `image/*`, `application/pdf`, `*`, … */
  readonly mediaType: string;
  readonly urls: readonly RegExp[];
}

type Taken = Omit<Traits, 'author' | 'urls' | 'reasons'> & { readonly reasons: RegExp | boolean };

/** What most models take. */
const USUAL: Taken = {
  reasoning: 'own',
  reasons: false,
  callIds: /^[A-Za-z0-9_-]{1,40}$/,
  callIdLength: 40,
  pairsReasoning: false,
  hosted: true,
  signsBlankText: false,
  userAfterResults: true,
  alternates: false,
  userFirst: false,
  systemFirst: false,
  resultMedia: true,
  assistantFiles: false,
};

const IMAGES = 'image/(?:\\*|png|jpe?g|gif|webp)';

/** What Claude takes, from whichever provider. */
const CLAUDE: Partial<Taken> = {
  reasons: /claude-(?:3-7|\w+-[4-9]|[4-9])/,
  userFirst: true,
  systemFirst: true,
  media: new RegExp(`^(?:${IMAGES}|application/pdf|text/plain)$`),
};

/** Servers of chat completions. */
const CHAT: Partial<Taken> = {
  hosted: false,
  resultMedia: false,
  media: /^(?:image\/.+|audio\/(?:wav|mp3|mpeg)|application\/pdf|text\/.+)$/,
  mediaUrls: /^image\//,
};

/** Mistral's template, also on servers of others. */
const MISTRAL: Partial<Taken> = {
  ...CHAT,
  reasoning: 'none',
  callIds: /^[A-Za-z0-9]{9}$/,
  callIdLength: 9,
  userAfterResults: false,
  alternates: true,
  userFirst: true,
  systemFirst: true,
  media: /^(?:image\/.+|application\/pdf)$/,
  mediaUrls: /^(?:image\/.+|application\/pdf)$/,
};

interface Row {
  /** Of `{provider} {host} {model}`. */
  readonly is: RegExp;
  /** Only for models of the adapter for OpenAI-compatible servers. */
  readonly compatible?: true;
  readonly takes: Partial<Taken>;
}

/** The first row that fits counts. */
const ROWS: readonly Row[] = [
  { is: /^\S*anthropic\S* |^\S*bedrock\S* \S* \S*claude/, takes: CLAUDE },
  {
    is: /^\S*bedrock/,
    takes: { userFirst: true, systemFirst: true },
  },
  {
    is: /^(?:google|vertex)/,
    takes: {
      reasons: /gemini-(?:2\.5|[3-9])/,
      signsBlankText: true,
      userFirst: true,
      systemFirst: true,
      assistantFiles: true,
    },
  },
  {
    is: /^\S*\.responses /,
    takes: {
      reasons:
        /^(?:o\d|gpt-(?:[5-9]|\d\d)(?!\S*-chat)|gpt-oss|codex|computer-use|grok-(?:[4-9]|3-mini))/,
      pairsReasoning: true,
      media: new RegExp(`^(?:${IMAGES}|application/pdf)$`),
    },
  },
  {
    is: /mistral|mixtral|mini?stral|magistral|codestral|devstral|pixtral|voxtral/i,
    takes: MISTRAL,
  },
  {
    is: /^(?:openai|azure\S*)\.chat /,
    takes: {
      ...CHAT,
      reasoning: 'none',
      media: new RegExp(`^(?:${IMAGES}|audio/(?:wav|mp3|mpeg)|application/pdf)$`),
    },
  },
  {
    // They write `reasoning_content`, or nothing, and refuse it.
    is: /groq|cerebras|openai|azure|sambanova|nvidia/i,
    compatible: true,
    takes: { ...CHAT, reasoning: 'none' },
  },
  {
    is: /deepseek|kimi|moonshot|qwen|qwq|alibaba|dashscope|glm|zhipu|z\.ai|minimax|mimo|doubao|hunyuan|stepfun|step-\d/i,
    compatible: true,
    takes: { ...CHAT, reasons: true },
  },
  { is: /./, compatible: true, takes: { ...CHAT, reasoning: 'none' } },
  // Packages of their own know what their servers take of what they have written themselves.
  { is: /\.chat /, takes: { resultMedia: false } },
];

/** What `model` takes. */
export async function traitsOf(model: LanguageModel): Promise<Traits> {
  const { provider, modelId } = model;
  const name = `${provider} ${hostOf(model)} ${modelId}`;
  const isCompatible = isOpenAiCompatible(model);
  const row = ROWS.find(
    ({ is, compatible }) => (compatible !== true || isCompatible) && is.test(name),
  );
  const { reasons, ...taken } = { ...USUAL, ...row?.takes };
  return {
    ...taken,
    author: { provider, model: modelId },
    reasons: typeof reasons === 'boolean' ? reasons : reasons.test(modelId),
    urls: await urlRules(model),
  };
}

/** The host of its server, where the adapter says it; else `-`. */
export function hostOf(model: LanguageModel): string {
  const config: unknown = Reflect.get(model, 'config');
  const write = isPlainObject(config) ? config['url'] : undefined;
  if (typeof write !== 'function') return '-';
  try {
    const path = '/chat/completions';
    return new URL(String(Reflect.apply(write, config, [{ path, modelId: model.modelId }]))).host;
  } catch {
    return '-';
  }
}

async function urlRules(model: LanguageModel): Promise<readonly UrlRule[]> {
  const supported: unknown = await Reflect.get(model, 'supportedUrls');
  return Object.entries(Object(supported) as object).flatMap(([mediaType, urls]) => {
    const known = Array.isArray(urls) ? urls.filter((url) => url instanceof RegExp) : [];
    return known.length === 0 ? [] : [{ mediaType, urls: known }];
  });
}
