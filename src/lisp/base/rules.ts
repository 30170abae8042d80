/**
 * Versions of the table of charges, and of meanings that were repaired. A program keeps the version
 * that it began with, so that a replay charges and computes what was recorded.
 *
 * I1  Version 1 is what every program without a recorded version began with.
 * I2  Version 2 charges also for what is copied, compared, searched and compiled (`Meter.extra`),
 *     and has the repaired meanings, each at its place: `or` of a definition without a value, float
 *     positions of members, `(pcalls)`, `format` of half a character, `combinations` of nearly all.
 *     A program of version 2 also stops at slices, see `machine/slice.ts`.
 */

/** A version of the rules. */
export type Rules = 1 | 2;

/** The version that new programs begin with. */
export const NEWEST_RULES: Rules = 2;
