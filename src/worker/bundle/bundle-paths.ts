/** The modules that a workflow bundle is made from, in the sources or in the build. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `.ts` from the sources, `.js` from the build. */
export const EXTENSION: string = extname(fileURLToPath(import.meta.url));

/** The module that exports Everloop's workflows, in the sources or in the build. */
export const WORKFLOWS_PATH: string = pathBeside(`../../workflows/index${EXTENSION}`);

/** The module of the workflow that delivers callbacks. */
export const CALLBACKS_PATH: string = pathBeside(
  `../../workflows/callbacks/deliver-callbacks${EXTENSION}`,
);

/** The module of the workflow that looks at a moment of a run. */
export const MOMENT_PATH: string = pathBeside(`../../workflows/forks/read-moment${EXTENSION}`);
/** The module of the workflow that keeps the ledger of a tenant. */
export const TENANT_PATH: string = pathBeside(`../../workflows/tenants/tenant${EXTENSION}`);

/** The module of the workflow that counts the requests of a model entry. */
export const RATE_PATH: string = pathBeside(`../../workflows/tenants/rate${EXTENSION}`);

/** The entry of the program language, in the sources or in the build. */
const LANGUAGE_PATH = pathBeside(`../../lisp${EXTENSION}`);

/** What workflows of your own import, `everloop/workflow`. */
const PARTS_PATH = pathBeside(`../../workflow${EXTENSION}`);

/** Makes promises in the sandbox cheap. */
const UNTRACKED_PROMISES_PATH = pathBeside(`../../workflows/untracked-promises${EXTENSION}`);

/** Keeps a run from hanging on an unreadable payload; see the file. */
export const PAYLOAD_CONVERTER_PATH: string = pathBeside(
  `../../workflows/payload-converter${EXTENSION}`,
);

/**
 * The interceptors of all workflows: what leaves one is counted, then what comes to it is put in order.
 * The first is the outer one: a local activity that waits for room has not begun.
 */
export const INTERCEPTOR_PATHS: readonly string[] = [
  pathBeside(`../../workflows/sending/outgoing${EXTENSION}`),
  pathBeside(`../../workflows/recorded/interceptors${EXTENSION}`),
];

/** Makes the texts of failures well-formed. */
export const FAILURE_CONVERTER_PATH: string = pathBeside(`../../workflows/converters${EXTENSION}`);

/** Hides the texts of failures in payloads, too. */
export const HIDING_CONVERTER_PATH: string = pathBeside(
  `../../workflows/failure-converter${EXTENSION}`,
);

/**
 * The absolute paths of the SDK, the entry of the language, the entries through which workflow code
 * uses Everloop, and a module that takes effect when it is loaded. What they import is preloaded with
 * them, and the bundler can join it; modules that no workflow needs stay out.
 */
export function preloadedModules(): readonly string[] {
  return [
    createRequire(import.meta.url).resolve('@temporalio/workflow'),
    LANGUAGE_PATH,
    UNTRACKED_PROMISES_PATH,
    PARTS_PATH,
    WORKFLOWS_PATH,
    PAYLOAD_CONVERTER_PATH,
    FAILURE_CONVERTER_PATH,
    ...INTERCEPTOR_PATHS,
  ];
}

function pathBeside(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
