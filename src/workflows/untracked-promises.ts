/**
 * Makes promises in the workflow sandbox cheap. It has an effect by being evaluated: the bundle
 * preloads it, which is before the sandbox's globals are frozen.
 *
 * The SDK hooks into every promise that workflow code makes, for the query `__stack_trace`. The hook
 * runs outside of the sandbox and finds its way in through `promise.constructor.constructor`, which
 * is `Function`: it compiles a text that gives the activator when a promise is made and another time
 * when it settles, and one that gives `Error` to capture a stack, which it maps through the source map
 * and keeps. That is 50 microseconds a promise, most of what a loop costs, and 10 KB of heap for each
 * waiting agent (measured).
 *
 * So the sandbox's `Promise` gets a `constructor` of its own that knows these two texts: the activator
 * comes without being compiled, so the SDK still knows which workflow a rejection belongs to, and in
 * place of `Error` comes what has no stack, upon which the hook gives up. Any other text is compiled as
 * before. The price: `__stack_trace` is empty. Stacks of errors are not touched.
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
