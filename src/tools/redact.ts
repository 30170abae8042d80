/**
 * Removes secrets from texts that leave the worker: messages of failures are recorded in history
 * and shown in logs and consoles. When in doubt, it removes.
 */
import { utf8Length } from '../core/base/json.ts';
import { firstBytes } from '../core/text/cut.ts';

/** Maximum size of a failure's text, in bytes; the beginning says what is wrong. */
const maxFailureTextBytes = 2_000;

/** Code units that are scanned, so that a body of megabytes costs no long scan. */
const maxScannedLength = 16_384;

const removed = '[redacted]';

/** Patterns and replacements, in order. Each takes linear time: no repetition is inside another. */
const rules: readonly (readonly [RegExp, string])[] = [
  // User, query and fragment of a URL: Google takes its key as `?key=`, signed URLs their
  // signature.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'<>]{1,500}@/gi, `$1${removed}@`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#"'<>]{1,2000})[?#][^\s"'<>)\]]*/gi, `$1?${removed}`],
  // Values of authorization, with or without a name in front. Plain numbers are token counts.
  [
    /\b((?:[a-z0-9-]{0,40}[_-])?(?:api[_ -]?key|apikey|access[_-]?key|secret|token|password|passwd|authorization|cookie|signature|credential)s?(?: provided)?["']?\s{0,3}[:=]\s{0,3})(?!\[redacted\]|\d{1,12}(?:[\s,;.)]|$))(?:(?:bearer|basic)\s)?["']?[^\s"',;&)}\]]{4,}/gi,
    `$1${removed}`,
  ],
  [/\b(bearer|basic)\s+[\w.~+/=*-]{6,}/gi, `$1 ${removed}`],
  // Keys with the prefixes of well-known services: OpenAI, Anthropic, Google, Groq, xAI, Hugging
  // Face, GitHub, GitLab, Slack, AWS, Stripe, Replicate, Perplexity, NVIDIA; masked ones too.
  [
    /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|xox[abprs]|r8|pplx|nvapi|fw|csk)[-_][\w*.-]{8,}/g,
    removed,
  ],
  [/\b(?:AIza|AKIA|ASIA|ya29\.)[\w*-]{12,}/g, removed],
  // JSON Web Tokens, and any 40 or more characters of base64 or hexadecimal with a digit.
  [/\beyJ[\w-]{6,}\.[\w.-]{6,}/g, removed],
  [/(?<![\w+/=-])(?=[A-Za-z+/=_-]{0,200}\d)[\w+/=-]{40,}/g, removed],
];

/**
 * `text` without keys, tokens, authorization values and query strings of URLs, cut to
 * {@link maxFailureTextBytes} bytes.
 *
 * @example
 * redact('GET https://a.example/v1?key=abc failed') // 'GET https://a.example/v1?[redacted] failed'
 */
export function redact(text: string): string {
  const scanned = text.slice(0, maxScannedLength);
  const clean = rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), scanned);
  if (utf8Length(clean) <= maxFailureTextBytes) return clean;
  return `${firstBytes(clean, maxFailureTextBytes - utf8Length('…'))}…`;
}

/** The text of a thrown value without secrets, for the model, the history and the logs. */
export function redactedErrorText(thrown: unknown): string {
  if (thrown instanceof Error) return redact(thrown.message) || thrown.name;
  if (typeof thrown === 'string' && thrown !== '') return redact(thrown);
  return `something was thrown that is no error: ${typeof thrown}`;
}
