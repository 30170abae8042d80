/**
 * Removes secrets from texts that leave the worker: messages of failures are recorded in history
 * and shown in logs and consoles. When in doubt, it removes.
 */
import { utf8Length } from '../base/json.ts';
import { firstBytes } from './cut.ts';
import { HIDE_NOTHING, type HideText } from './hide.ts';

/** Maximum size of a failure's text, in bytes; the beginning says what is wrong. */
const maxFailureTextBytes = 2_000;

/** Code units that are scanned, so that a body of megabytes costs no long scan. */
const maxScannedLength = 16_384;

/** Code units that are searched for values to hide, whose texts may shrink. */
const maxHiddenLength = 4 * maxScannedLength;

const removed = '[redacted]';

/** Patterns and replacements, in order. Each takes linear time: no repetition is inside another. */
const rules: readonly (readonly [RegExp, string])[] = [
  // User, query and fragment of a URL: Google takes its key as `?key=`, signed URLs their
  // signature.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'<>]{1,500}@/gi, `$1${removed}@`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#"'<>]{1,2000})[?#][^\s"'<>)\]]*/gi, `$1?${removed}`],
  // Values of authorization, with or without a name in front. Plain numbers are token counts.
  [
    /\b((?:[\w-]{0,40}?(?:api[_ -]?key|(?:access|account|shared|primary|secondary|private|signing|master|storage|function|subscription|encryption)[_-]?key|secret|token|passw(?:or)?d|passphrase|authorization|cookie|signature|credential)|(?:[a-z0-9-]{0,40}[_-])?(?:pass|pwd))s?(?: provided)?["']?\s{0,3}[:=]\s{0,3})(?!\[redacted\]|\d{1,12}(?:[\s,;.)]|$))(?:(?:bearer|basic)\s)?["']?[^\s"',;&)}\]]{4,}/gi,
    `$1${removed}`,
  ],
  // A key of 32 hexadecimal digits, as Azure has them, looks like any hash, so it needs the word.
  [/(keys?\b[^\n]{0,40}?)(?<![\da-z])[\da-f]{32}(?![\da-z])/gi, `$1${removed}`],
  // `mysql -pSECRET`. Elsewhere `-p` begins words such as `-path` and ports such as `-p8080:80`.
  [
    /\b((?:mysql\w{0,20}|mariadb[\w-]{0,20}|sshpass|7za?|zip|unzip)\b[^\n]{0,200}?\s-p)[^\s"']{1,200}/gi,
    `$1${removed}`,
  ],
  [
    /(?<![\w-])-p(?!\d{1,5}(?::\d{1,5})?(?!\w))(?=[^\s"'`,;]{0,200}[A-Z\d!@#$%^*])[^\s"'`,;]{4,200}/g,
    `-p${removed}`,
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
  const clean = withoutSecrets(text.slice(0, maxScannedLength));
  if (utf8Length(clean) <= maxFailureTextBytes) return clean;
  return `${firstBytes(clean, maxFailureTextBytes - utf8Length('…'))}…`;
}

/** `text` as {@link redact} returns it, but uncut. Linear, so the caller bounds it. */
export function withoutSecrets(text: string): string {
  return rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}

/**
 * The text of a thrown value without secrets, for the model, the history and the logs. `hide` comes
 * first, since a value in which a pattern has replaced something is no longer found.
 */
export function redactedErrorText(thrown: unknown, hide: HideText = HIDE_NOTHING): string {
  const clean = (text: string): string => redact(hide(text.slice(0, maxHiddenLength)));
  if (thrown instanceof Error) return clean(thrown.message) || thrown.name;
  if (typeof thrown === 'string' && thrown !== '') return clean(thrown);
  return `something was thrown that is no error: ${typeof thrown}`;
}
