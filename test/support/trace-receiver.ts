/**
 * A collector in this process: OTLP over HTTP, spans as JSON and metrics in binary form. To a GET it
 * answers as any server does.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricsIn, type ReceivedPoint } from './otlp-metrics.ts';

/** A span as it was received. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What an export was sent with. */
export interface ReceivedExport {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A collector. */
export interface TraceReceiver {
  readonly url: string;
  /** All spans so far, as often as they came. */
  readonly spans: readonly ReceivedSpan[];
  /** The traceparents of all GETs; empty where there was none. */
  readonly asked: readonly string[];
  /** The path and the headers of each export. */
  readonly exports: readonly ReceivedExport[];
  /** The points of the newest export of each metric. */
  readonly metrics: ReadonlyMap<string, readonly ReceivedPoint[]>;
  /** All bodies of spans, as text. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

interface OtlpSpan extends Omit<ReceivedSpan, 'attributes'> {
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Starts a collector that answers with `status`; 0: never. */
export async function startReceiver(status = 200): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const asked: string[] = [];
  const exports: ReceivedExport[] = [];
  const metrics = new Map<string, readonly ReceivedPoint[]>();
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      asked.push(request.headers['traceparent']?.toString() ?? '');
      response.end('hits');
      return;
    }
    exports.push({ path: request.url ?? '', headers: request.headers });
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/v1/metrics') {
        for (const [name, points] of metricsIn(Buffer.concat(parts))) metrics.set(name, points);
        response.end();
        return;
      }
      const text = Buffer.concat(parts).toString();
      bodies.push(text);
      if (status === 200) spans.push(...spansIn(JSON.parse(text) as OtlpBody));
      if (status === 0) return;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    asked,
    exports,
    metrics,
    bodies,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function spansIn({ resourceSpans }: OtlpBody): readonly ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries(
        span.attributes.map(({ key, value }) => [key, valueOf(value)]),
      ),
    }));
}

function valueOf({
  stringValue,
  intValue,
  doubleValue,
  boolValue,
  arrayValue,
}: OtlpValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(valueOf);
  return stringValue ?? intValue ?? doubleValue ?? boolValue;
}
