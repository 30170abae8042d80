/** See `src/lisp/base/defined.ts`; the language is the floor below this one. */
export { defined, type Defined } from '../../lisp/base/defined.ts';
