/** The certificate and the key with which readers of provisional text are served. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { errorText } from '../../core/base/error-text.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { readOwnFile, readSmallFile, type OwnFile } from '../../protection/own-file.ts';
import type { WorkerConfig } from '../config/config.ts';
import type { StreamTlsFiles } from '../config/stream-settings.ts';
import { hostText } from '../../http/host-names.ts';

/** Texts in PEM form. */
export interface StreamTls {
  readonly cert: string;
  readonly key: string;
}

/**
 * What to serve with; undefined: plain HTTP.
 *
 * @throws UsageError `stream_tls` when others than this machine would get text that keys protect
 * elsewhere without TLS, or when the files are no pair of a certificate and its key.
 */
export function streamTlsOf({
  streamListen: listen,
  streamTls: files,
  protection,
}: Pick<WorkerConfig, 'streamListen' | 'streamTls' | 'protection'>): StreamTls | undefined {
  if (typeof listen !== 'object') return undefined;
  if (files !== undefined) return readPair(files);
  if (protection?.keys === undefined || isLoopback(listen.host)) return undefined;
  throw invalid(
    `Expected TLS for readers of provisional text at ${hostText(listen.host)}, because runs are encrypted, got plain HTTP. ` +
      'Set `EVERLOOP_STREAM_TLS` to cert.pem:key.pem, or listen on 127.0.0.1 behind a proxy with TLS.',
  );
}

function readPair(files: StreamTlsFiles): StreamTls {
  const cert = textOf('certificate', () => readSmallFile(files.cert));
  const key = textOf('key', () => readOwnFile(files.key));
  const certificate = parsed('certificate', files.cert, () => new X509Certificate(cert));
  const own: KeyObject = parsed('private key without a passphrase', files.key, () =>
    createPrivateKey(key),
  );
  if (certificate.checkPrivateKey(own)) return { cert, key };
  throw invalid(
    `Expected the key in \`${files.key}\` to belong to the certificate in \`${files.cert}\`, got that of another. Correct \`EVERLOOP_STREAM_TLS\`.`,
  );
}

function textOf(what: string, read: () => OwnFile): string {
  let file: OwnFile;
  try {
    file = read();
  } catch (error) {
    throw invalid(
      `Expected the ${what} of \`EVERLOOP_STREAM_TLS\` to be a file, got: ${errorText(error)}. Correct it.`,
    );
  }
  if ('text' in file) return file.text;
  throw invalid(file.problem);
}

/** The error of the library may quote the file, so it is not shown. */
function parsed<Value>(what: string, file: string, parse: () => Value): Value {
  try {
    return parse();
  } catch {
    throw invalid(
      `Expected file \`${file}\` to have a ${what} in PEM form, got something else. Correct \`EVERLOOP_STREAM_TLS\`.`,
    );
  }
}

function invalid(message: string): UsageError {
  return new UsageError('stream_tls', message);
}
