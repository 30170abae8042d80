/**
 * Takes secrets out of texts that leave the worker: messages of failures enter the history of a
 * run, and with it logs and consoles. Rather too much is removed than too little.
 */
import { utf8Length } from '../core/base/json.ts';

/** Bytes of a failure's text that are kept; its beginning says what is wrong. */
const maxFailureTextBytes = 2_000;

/** Code units that are looked at, so that a body of megabytes does not cost a scan of megabytes. */
const maxScannedLength = 16_384;

const removed = '[redacted]';

/** Patterns and replacements, in order; each is linear: no repetition holds another one. */
const rules: readonly (readonly [RegExp, string])[] = [
  // User, query and fragment of a URL: Google takes its key as `?key=`, signed URLs their signature.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'<>]{1,500}@/gi, `$1${removed}@`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#"'<>]{1,2000})[?#][^\s"'<>)\]]*/gi, `$1?${removed}`],
  // Values of authorization, with and without a name in front; plain numbers are counts of tokens.
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
  // JSON web tokens, and any run of 40 or more characters of base64 or hexadecimal with a digit.
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
  return cutText(clean, maxFailureTextBytes);
}

/** At most `maxBytes` of UTF-8, ended at a whole code point, with `…` where something is missing. */
function cutText(text: string, maxBytes: number): string {
  if (utf8Length(text) <= maxBytes) return text;
  const room = maxBytes - utf8Length('…');
  let bytes = 0;
  let kept = '';
  for (const point of text) {
    bytes += utf8Length(point);
    if (bytes > room) break;
    kept += point;
  }
  return `${kept}…`;
}
