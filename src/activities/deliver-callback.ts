/** The activity that delivers a callback: one attempt; the service repeats it for a day. */
import { Context } from '@temporalio/activity';
import { deliver, type CallbackSettings } from '../callbacks/deliver.ts';
import type { EverloopActivities } from './activity-types.ts';
import { callbackFailure } from './failures.ts';

/** The activity of a worker that sends callbacks with `settings`. */
export function createDeliverCallback(
  settings: CallbackSettings,
): EverloopActivities['deliverCallback'] {
  return async (message) => {
    const { cancellationSignal: signal } = Context.current();
    const delivery = await deliver(message, settings, { now: Date.now(), signal });
    if (delivery.kind !== 'delivered') throw callbackFailure(delivery);
  };
}
