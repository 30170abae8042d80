/** The language, bundled like a workflow and run in a context of its own like a workflow. */
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { preloadedModules } from '../../src/worker/bundle/bundle-paths.ts';

const CACHE_DIR = '.everloop/bundles';

/** The language in the sandbox. */
export interface Sandboxed {
  readonly run: (source: string, forced: boolean) => void;
  /** Bytes that the language adds to a workflow bundle, without the source map. */
  readonly bytes: number;
}

/** `runOurs` inside the sandbox's kind of context, and what the language adds to a bundle. */
export async function sandboxed(): Promise<Sandboxed> {
  const [sdk = '', language = ''] = preloadedModules();
  const code = await codeOf('./run-ours.ts', [sdk, language]);
  const bare = await codeOf('../workflows/bare.ts', [sdk]);
  const context = vm.createContext({ console: {}, __webpack_module_cache__: {} });
  new vm.Script(code, { filename: 'workflow-bundle.js' }).runInContext(context);
  const globals = context as unknown as {
    readonly __TEMPORAL__: {
      importWorkflows(): { readonly runOurs: Sandboxed['run'] };
    };
  };
  const { runOurs: run } = globals.__TEMPORAL__.importWorkflows();
  return { run, bytes: Buffer.byteLength(code) - Buffer.byteLength(bare) };
}

async function codeOf(path: string, preloadModules: readonly string[]): Promise<string> {
  const workflowsPath = fileURLToPath(new URL(path, import.meta.url));
  const { code } = await loadWorkflowBundle({ cacheDir: CACHE_DIR, workflowsPath, preloadModules });
  return code.split('\n//# sourceMappingURL')[0] ?? '';
}
