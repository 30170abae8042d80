/** The limits of programs that an agent may set: those of the language. */
import { LIMIT_RANGES, type Limits } from '../../lisp.ts';

/** Default and highest value of each limit of a program; the lowest is 1. */
export const PROGRAM_LIMITS: {
  readonly [name in keyof Limits]: { readonly standard: number; readonly highest: number };
} = LIMIT_RANGES;
