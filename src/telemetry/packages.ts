/** Loads the packages of OpenTelemetry, which are optional: nothing loads them while traces are off. */
import { missingPackage } from '../core/base/missing-package.ts';
import type { TraceOptions } from './options.ts';

/** The packages of a tracer. */
export interface Packages {
  readonly api: typeof import('@opentelemetry/api');
  readonly sdk: typeof import('@opentelemetry/sdk-trace-base');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly hooks: typeof import('@opentelemetry/context-async-hooks');
  readonly otlp: Pick<
    typeof import('@opentelemetry/exporter-trace-otlp-http'),
    'OTLPTraceExporter'
  >;
}

/** What to install: later versions need Node 22. */
const INSTALL =
  'npm install @opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/resources@2.12.1 @opentelemetry/context-async-hooks@2.12.0 @opentelemetry/exporter-trace-otlp-http@0.223.1';

/** Loads what `options` need. @throws UsageError `telemetry_package` if a package is missing. */
export async function loadPackages({ spanProcessors }: TraceOptions): Promise<Packages> {
  const what = spanProcessors === undefined ? '`traces: true`' : '`traces.spanProcessors`';
  const load = <Module>(name: string, loading: Promise<Module>): Promise<Module> =>
    loading.catch((cause: unknown) => {
      const needed = { code: 'telemetry_package', name, what, install: INSTALL } as const;
      throw missingPackage(cause, needed);
    });
  return {
    api: await import('@opentelemetry/api'),
    sdk: await load('@opentelemetry/sdk-trace-base', import('@opentelemetry/sdk-trace-base')),
    resources: await load('@opentelemetry/resources', import('@opentelemetry/resources')),
    hooks: await load(
      '@opentelemetry/context-async-hooks',
      import('@opentelemetry/context-async-hooks'),
    ),
    // With processors of the user's own nothing is sent from here.
    otlp:
      spanProcessors === undefined
        ? await load(
            '@opentelemetry/exporter-trace-otlp-http',
            import('@opentelemetry/exporter-trace-otlp-http'),
          )
        : NO_OTLP,
  };
}

const NO_OTLP = {} as Packages['otlp'];
