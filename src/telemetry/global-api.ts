/** Makes a tracer that of the process, so that instrumented libraries send their spans the same way. */
import type { TracerProvider } from '@opentelemetry/api';
import { createRequire } from 'node:module';
import type { Packages } from './packages.ts';
import { traceparentPropagator } from './propagator.ts';

type Api = Packages['api'];

const require = createRequire(import.meta.url);

/**
 * The API as `require` loads it. Its package has two builds, each with tracers of its own that wait for
 * a provider; instrumentations use this one.
 */
const requiredApi = (): Api => require('@opentelemetry/api') as Api;

/** Registers what the process does not have; the result takes back what was registered. */
export function becomeGlobal({ api, hooks }: Packages, provider: TracerProvider): () => void {
  const manager = new hooks.AsyncLocalStorageContextManager().enable();
  const hasContext = api.context.setGlobalContextManager(manager);
  const hasTracer = registerProvider(api, provider);
  const hasPropagator = api.propagation.setGlobalPropagator(traceparentPropagator(api));
  return () => {
    if (hasContext) api.context.disable();
    if (hasTracer) api.trace.disable();
    if (hasPropagator) api.propagation.disable();
    manager.disable();
  };
}

function registerProvider({ trace }: Api, provider: TracerProvider): boolean {
  const other = requiredApi().trace;
  // Gives the provider to tracers that this build has made before; `disable` does not take it back.
  if (other !== trace && other.setGlobalTracerProvider(provider)) other.disable();
  return trace.setGlobalTracerProvider(provider);
}
