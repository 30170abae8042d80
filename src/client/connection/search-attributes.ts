/**
 * Search attributes in the calls of a client. Whether the namespace has them is seen by using them:
 * a service that lacks one refuses the call, and then it is made again without them.
 */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { utf8Length } from '../../core/base/json.ts';
import { SEARCH_ATTRIBUTES, visibleState } from '../../core/base/search-attributes.ts';
import { grpcCodeOf } from './service-errors.ts';

/** Makes a call with the attributes if the namespace has them, else without. */
export type WithAttributes = <Result>(
  call: (hasAttributes: boolean) => Promise<Result>,
) => Promise<Result>;

/** How long a client believes that they are missing: an operator may add them meanwhile. */
const LACK_MS = 10_000;

/** The gRPC status that refuses an unknown attribute, and other mistakes. */
const INVALID_ARGUMENT = 3;

/** For the calls of one client. */
export function createAttributeUse(): WithAttributes {
  let lackedAt = -LACK_MS;
  return async (call) => {
    if (performance.now() - lackedAt < LACK_MS) return call(false);
    try {
      return await call(true);
    } catch (error) {
      if (grpcCodeOf(error) !== INVALID_ARGUMENT) throw error;
      // A call that is wrong in another way fails again, with its own error.
      const result = await call(false);
      lackedAt = performance.now();
      return result;
    }
  };
}

/** Makes a call with the attributes of a new run, as far as the namespace has them. */
export type WithRunAttributes = <Result>(
  run: { readonly agent: string; readonly tenant?: string | undefined },
  call: (attributes: SearchAttributePair[]) => Promise<Result>,
) => Promise<Result>;

/** For new runs of one client. */
export function createRunAttributes(withAttributes: WithAttributes): WithRunAttributes {
  return ({ agent, tenant }, call) =>
    withAttributes((has) => call(has ? attributesOfRun(agent, tenant) : []));
}

/** The service keeps keywords of 255 characters. */
const MAX_KEYWORD_BYTES = 255;

const AGENT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD');
const STATE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD');
const TENANT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.tenant, 'KEYWORD');

/** The attributes of a new run. */
export function attributesOfRun(agent: string, tenant?: string): SearchAttributePair[] {
  if (utf8Length(agent) > MAX_KEYWORD_BYTES) return [];
  return [
    { key: AGENT, value: agent },
    { key: STATE, value: visibleState(false) },
    ...(tenant === undefined ? [] : [{ key: TENANT, value: tenant }]),
  ];
}
