/** Failures that a transport reports for a message, as answers of the server to it. */

/** The answer was longer than is read. */
export const TOO_LONG = -32_097;

/** The connection ended before the answer came. */
export const LOST = -32_098;
