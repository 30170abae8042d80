/** Reads where readers of provisional text connect, and with what. */
import type { ReportVariable } from '../../client/connection/temporal-environment.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { readerTokens } from '../../protection/stream-token.ts';
import type { Refuse } from './variable-values.ts';
import { hostText } from '../../http/host-names.ts';

/** An interface and a port of this machine. */
export interface StreamListen {
  readonly host: string;
  readonly port: number;
}

/** Files of PEM text. They are read when the worker starts. */
export interface StreamTlsFiles {
  /** The certificate, with those that lead from it to one that readers trust. */
  readonly cert: string;
  /** Its private key, which only its owner may read. */
  readonly key: string;
}

/** Shorter tokens could be guessed. */
const MIN_TOKEN_CHARACTERS = 16;

/** Headers of a request have at most 16 KB. */
const MAX_TOKEN_CHARACTERS = 1_000;

/** `off`, or an interface and a port. */
export function streamListen(text: string, refuse: Refuse): StreamListen | 'off' | undefined {
  if (text === 'off') return text;
  const [, host = '', digits = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) {
    return refuse('to be `off`, or an interface and a port such as 0.0.0.0:7244');
  }
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/** Reader tokens, separated by commas. Messages never show them. */
export function streamToken(text: string, refuse: Refuse): string {
  const tokens = readerTokens(text);
  const lengths = tokens.map((token) => token.length);
  const short = lengths.find((length) => length < MIN_TOKEN_CHARACTERS) ?? lengths.at(0) ?? 0;
  const long = lengths.find((length) => length > MAX_TOKEN_CHARACTERS);
  if (short < MIN_TOKEN_CHARACTERS) {
    refuse(`to have at least ${MIN_TOKEN_CHARACTERS} characters`, `${short}`, 'Take a longer one.');
  } else if (long !== undefined) {
    refuse(`to have at most ${MAX_TOKEN_CHARACTERS} characters`, `${long}`, 'Take a shorter one.');
  } else if (!tokens.every((token) => /^[\x20-\x7e]*$/.test(token))) {
    const advice = 'Take letters and digits: it is sent in a header.';
    refuse('to have only characters of ASCII', 'others', advice);
  }
  return text;
}

/** `C:\\a.pem` has a colon of its own. */
const TWO_FILES = /^([A-Za-z]:[\\/][^:]+|[^:]+):(.+)$/;

/** The files of a certificate and of its key. */
export function streamTls(text: string, refuse: Refuse): StreamTlsFiles | undefined {
  const [, cert = '', key = ''] = TWO_FILES.exec(text) ?? [];
  if (cert !== '' && key !== '') return { cert, key };
  return refuse('to be the files of a certificate and its key, such as cert.pem:key.pem');
}

/** Reports that others can reach the endpoint and no token is set. */
export function checkStreamToken(
  {
    streamListen: listen,
    streamToken: token,
  }: { readonly streamListen?: StreamListen | 'off'; readonly streamToken?: string },
  report: ReportVariable,
): void {
  if (typeof listen !== 'object' || token !== undefined || isLoopback(listen.host)) return;
  const expected = `to be set when others can reach ${hostText(listen.host)}`;
  report('EVERLOOP_STREAM_TOKEN', expected, 'none', 'Give workers and readers the same one.');
}
