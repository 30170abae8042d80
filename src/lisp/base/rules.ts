/**
 * Versions of the rules: what a program is charged, and what some functions mean. A program keeps
 * the version that it began with, so a replay charges and computes what was recorded.
 *
 * I1  A program without a recorded version has version 1.
 * I2  Version 2 also charges for copying, comparing, searching and compiling (`Meter.extra`). It
 *     repairs `or` of a definition without a value, float positions of members, `(pcalls)`,
 *     `format` of half a character, and `combinations` of nearly all elements. Its programs stop at
 *     slices; see `machine/slice.ts`.
 */

/** A version of the rules. */
export type Rules = 1 | 2;

/** The version that new programs begin with. */
export const NEWEST_RULES: Rules = 2;
