/**
 * Switches stacks off in the workflow sandbox. It has an effect by being evaluated: the bundle
 * preloads it, which is before the sandbox's globals are frozen.
 *
 * The SDK captures a stack for every promise that workflow code makes, maps each of its frames through
 * the source map and keeps the text until the promise settles, all for the query `__stack_trace`.
 * Without frames a replay takes a seventh less time, and a waiting agent some 10 KB less heap
 * (measured). The price: errors in the sandbox have a message and no frames. The loop shows messages
 * alone, and over the memory host the same loop runs outside the sandbox, with whole stacks.
 */
/** Frames of a stack in the sandbox. */
export const STACK_DEPTH = 0;

Error.stackTraceLimit = STACK_DEPTH;
