/**
 * The own parts of replies that a workflow bundle adds, for the activities of a worker: they write
 * the prompts in which these parts are described. The code of authors runs in a sandbox like that of
 * workflows, with the same bundle, and each call has a deadline.
 *
 * I1  Values cross the border as JSON texts only, so neither side gets an object of the other.
 * I2  The sandbox is made for the first part that is looked for; most workers never need it.
 */
import { createContext, Script, type Context } from 'node:vm';
import { errorText } from '../../core/base/error-text.ts';
import { OWN_KINDS, OWN_PARTS, type Extensions, type OwnKind } from '../../core/extension/store.ts';

/** A call of an author's code may hold its worker for as long as a workflow task may compute. */
const CALL_MS = 5_000;

/** Evaluating a bundle takes some 30 ms. */
const LOAD_MS = 10_000;

/** The own parts that the bundle `code` adds. */
export function bundleExtensions(code: string, callMs: number = CALL_MS): Extensions {
  let opened: OpenSandbox | undefined;
  const sandbox = (): OpenSandbox => (opened ??= openSandbox(code, callMs));
  return {
    find: (kind, name) => sandbox().parts[kind].get(name),
    names: (kind) => [...sandbox().parts[kind].keys()],
  };
}

interface OpenSandbox {
  readonly parts: { readonly [kind in OwnKind]: ReadonlyMap<string, object> };
}

/** Names of functions by kind and by name of the part. */
type Listing = { readonly [kind in OwnKind]: { readonly [name: string]: readonly string[] } };

function openSandbox(code: string, callMs: number): OpenSandbox {
  const context = createContext(sandboxGlobals());
  run(new Script(code, { filename: 'workflow-bundle.js' }), context, LOAD_MS);
  run(IMPORT, context, LOAD_MS);
  const listing = JSON.parse(run(LIST, context, LOAD_MS)) as Listing;
  const partsOf = (kind: OwnKind): ReadonlyMap<string, object> =>
    new Map(
      Object.entries(listing[kind]).map(([name, functions]) => [
        name,
        Object.fromEntries(
          functions.map((method) => [method, caller(context, { kind, name, method }, callMs)]),
        ),
      ]),
    );
  const kinds = Object.keys(OWN_KINDS) as OwnKind[];
  return {
    parts: Object.fromEntries(kinds.map((it) => [it, partsOf(it)])) as OpenSandbox['parts'],
  };
}

interface Target {
  readonly kind: OwnKind;
  readonly name: string;
  readonly method: string;
}

/** A function that calls one of an author's in the sandbox. */
function caller(
  context: Context,
  target: Target,
  callMs: number,
): (...args: readonly unknown[]) => unknown {
  return (...args) => {
    context[CALL] = JSON.stringify({ ...target, args });
    const { value, thrown } = JSON.parse(run(CALL_IN, context, callMs)) as Answer;
    if (thrown !== undefined) throw new Error(thrown);
    return value;
  };
}

/** What a call in the sandbox gives. */
interface Answer {
  readonly value?: unknown;
  readonly thrown?: string;
}

function run(script: Script, context: Context, timeout: number): string {
  try {
    return script.runInContext(context, { timeout }) as string;
  } catch (error) {
    // As a cause it would show the source of the whole bundle, which is one line.
    // Errors of the sandbox are of a class that this side does not know.
    const { message } = Object(error) as { readonly message?: unknown };
    throw new Error(typeof message === 'string' ? message : errorText(error));
  }
}

/** The globals that the SDK gives to workflows. Modules are kept in a cache of this sandbox. */
function sandboxGlobals(): Record<string, unknown> {
  const silent = (): void => undefined;
  return {
    __webpack_module_cache__: {},
    console: { log: silent, warn: silent, error: silent, info: silent, debug: silent },
    URL,
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    AbortController,
    AsyncLocalStorage: SilentStorage,
    [CALL]: '',
  };
}

/** The SDK's modules make storages when they are loaded; nothing here runs in one. */
class SilentStorage {
  getStore(): undefined {
    return undefined;
  }
  run(_store: unknown, work: () => unknown): unknown {
    return work();
  }
  disable(): void {
    // It keeps nothing.
  }
}

/** The global that names the function to call, with its arguments. */
const CALL = '__EVERLOOP_CALL__';

/** A module may ask for time and chance when it is loaded; here both stand still. */
const IMPORT = new Script(`{
  globalThis.__TEMPORAL_ACTIVATOR__ = { now: 0, random: () => 0.5 };
  __TEMPORAL__.importWorkflows();
  "";
}`);

const LIST = new Script(`{
  const kinds = ${JSON.stringify(Object.keys(OWN_KINDS))};
  const functions = (part) => {
    const names = new Set();
    for (let at = part; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
      for (const name of Object.getOwnPropertyNames(at))
        if (name !== 'constructor' && typeof part[name] === 'function') names.add(name);
    return [...names];
  };
  const store = globalThis.${OWN_PARTS};
  JSON.stringify(Object.fromEntries(kinds.map((kind) => [
    kind,
    Object.fromEntries([...(store?.[kind] ?? [])].map(([name, part]) => [name, functions(part)])),
  ])));
}`);

const CALL_IN = new Script(`{
  const { kind, name, method, args } = JSON.parse(globalThis.${CALL});
  let answer;
  try {
    answer = { value: globalThis.${OWN_PARTS}[kind].get(name)[method](...args) };
  } catch (error) {
    answer = { thrown: String(error?.message ?? error) };
  }
  JSON.stringify(answer);
}`);
