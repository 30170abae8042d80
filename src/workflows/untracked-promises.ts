/**
 * Makes promises in the workflow sandbox cheap where the SDK hooks into them: in replays on a main
 * thread. A worker's threads have no hook, see `worker/threads/guarded-thread.ts`. It takes effect
 * when it is loaded: the bundle preloads it, before the sandbox's globals are frozen.
 *
 * The SDK hooks into every promise that workflow code makes, for the query `__stack_trace`. The
 * hook runs outside the sandbox and reaches into it through `promise.constructor.constructor`,
 * which is `Function`. When a promise is made and again when it settles, the hook compiles one text
 * to get the activator. It compiles another to get `Error`, captures a stack, maps it through the
 * source map and keeps it. This takes 50 microseconds for each promise, most of the cost of a loop,
 * and 10 KB of heap for each waiting agent (measured).
 *
 * So the sandbox's `Promise` gets a `constructor` of its own that knows these two texts. For the
 * first it returns the activator, so the SDK still knows which workflow a rejection belongs to. For
 * the second it returns a class whose instances have no stack, and the hook gives up. Any other
 * text is compiled as before. The price: `__stack_trace` is empty there. Stacks of errors are
 * unchanged.
 */

/** Reads the global that the SDK exchanges with each workflow. */
const activator = (): unknown => Reflect.get(globalThis, '__TEMPORAL_ACTIVATOR__');

/** What the hook captures in place of an error. */
class Stackless {
  readonly stack = undefined;
}

/** What the hook gets for a text that it compiles. */
export type Compiled = () => unknown;

const LOOKUPS: { readonly [code: string]: Compiled | undefined } = {
  'return globalThis.__TEMPORAL_ACTIVATOR__': activator,
  'return globalThis.Error': () => Stackless,
};

const compile = Promise.constructor as (code: string) => Compiled;

Object.defineProperty(Promise, 'constructor', {
  // Frozen like all globals once the modules are loaded.
  value: (code: string): Compiled => LOOKUPS[code] ?? compile(code),
});
