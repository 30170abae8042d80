/** The language bundled as workflows are, and run in a context of its own as workflows are. */
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { bundleWorkflowCode } from '@temporalio/worker';

/** `runOurs` inside the sandbox's kind of context, and the size of its bundle in bytes. */
export async function sandboxed(): Promise<{
  readonly run: (source: string, forced: boolean) => void;
  readonly bytes: number;
}> {
  const quiet = { trace: hush, debug: hush, info: hush, warn: hush, error: hush, log: hush };
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./run-ours.ts', import.meta.url)),
    logger: quiet,
  });
  const context = vm.createContext({ console: quiet, __webpack_module_cache__: {} });
  new vm.Script(code, { filename: 'workflow-bundle.js' }).runInContext(context);
  const globals = context as unknown as {
    readonly __TEMPORAL__: {
      importWorkflows(): { readonly runOurs: (source: string, forced: boolean) => void };
    };
  };
  const { runOurs } = globals.__TEMPORAL__.importWorkflows();
  return { run: runOurs, bytes: code.length };
}

function hush(): void {
  // The bundler's log is not of interest here.
}
