/** Bytes of one message of a client: the largest start without a blob store, and room. */
export const MAX_REQUEST_BYTES = 4_194_304;
