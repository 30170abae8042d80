/** The types of an agent's value and context, from its options. */
import type { Json, JsonObject } from '../../core/base/json.ts';
import type { AnswerDefinition } from '../definition/definitions.ts';
import type { InputsOf, OutputOf } from '../schema/signature-types.ts';

/** The value of runs: the output of the signature, else what the answer or the mode says. */
export type AgentValue<Signature, Answer, Mode> = [Mode] extends ['text']
  ? string
  : [OutputOf<Signature>] extends [never]
    ? OtherValue<Answer, Mode>
    : OutputOf<Signature>;

type OtherValue<Answer, Mode> = [Answer] extends [never]
  ? [Mode] extends ['chat' | 'react']
    ? string
    : Json
  : Answer extends AnswerDefinition<infer Value>
    ? unknown extends Value
      ? Json
      : Value
    : Json;

/** The context of runs: the inputs of the signature, of which the task may give `task`. */
export type AgentContext<Signature, Mode> = [Signature] extends [never]
  ? JsonObject
  : [Mode] extends ['text']
    ? JsonObject
    : WithTask<InputsOf<Signature>>;

/** Models never see keys that begin with `_`: any context may have some. */
type WithTask<Inputs> = string extends keyof Inputs
  ? Inputs
  : {
      readonly [
        Name in Exclude<keyof Inputs, 'task'> as {} extends Pick<Inputs, Name> ? never : Name
      ]: Inputs[Name];
    } & {
      readonly [
        Name in keyof Inputs as Name extends 'task'
          ? Name
          : {} extends Pick<Inputs, Name>
            ? Name
            : never
      ]?: Inputs[Name];
    } & { readonly [hidden: `_${string}`]: Json };
