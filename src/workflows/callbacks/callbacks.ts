/**
 * Callbacks of a run: what its events tell others is given to child workflows that deliver it.
 *
 * I1  A run never waits for a receiver. Before it ends or hands over it waits only until the service
 *     has recorded the start of each delivery; from then on no worker and no run is needed for it.
 * I2  Deliveries outlive the run, and no cancel of the run reaches them.
 * I3  Few deliveries are open at a time: the service allows 2,000 open children. One of them starts at
 *     a time: a workflow task has no room for many. What comes while a receiver is down waits here,
 *     and goes together with the next.
 * I4  Commands are issued only in runs with callbacks.
 */
import {
  CancellationScope,
  ChildWorkflowFailure,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { errorText } from '../../core/base/error-text.ts';
import { ownId } from '../../core/base/ids.ts';
import { tenantOfId } from '../../core/tenant/tenant.ts';
import {
  CALLBACK_WORKFLOW,
  type CallbackBody,
  type CallbackMessage,
  type CallbackOrder,
  type CallbackSpec,
} from '../../core/contract/callback.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import {
  callbackOf,
  unstartedCallback,
  type CallbackPlace,
} from '../../core/run/callback-message.ts';
import type { Step } from '../../core/contract/step.ts';
import { recorded } from '../recorded/recorded.ts';

/** The callbacks of one link of a run. */
export interface Callbacks {
  /** Notes what `event` tells. */
  hear(event: AgentEvent): void;
  /** Notes the end of a run that never began. */
  hearUnstarted(step: Step): void;
  /** Starts the delivery of what was noted. Called before each wait and at the end. */
  send(): void;
  /**
   * Settles when the service has all that was noted; call it before the execution closes. Undefined
   * in a run without callbacks, which must not wait here.
   */
  handOff(): Promise<void> | undefined;
}

/** Those of a run that calls nobody. */
export const NO_CALLBACKS: Callbacks = {
  hear: () => undefined,
  hearUnstarted: () => undefined,
  send: () => undefined,
  handOff: () => undefined,
};

/** So many deliveries may be open before what comes waits for the others. */
const MAX_OPEN = 8;

/** So many messages go together: 100 of at most 5 KB are a quarter of the service's limit. */
const MAX_TOGETHER = 100;

/** The callbacks that `specs` ask for. `warn` gets the text of a delivery that failed for good. */
export function createCallbacks(
  specs: readonly CallbackSpec[] | undefined,
  warn: (message: string) => void,
): Callbacks {
  if (specs === undefined || specs.length === 0) return NO_CALLBACKS;
  const place = placeOf();
  const scope = new CancellationScope({
    cancellable: false,
    parent: CancellationScope.current(),
  });
  const waiting: CallbackMessage[] = [];
  let starting: Promise<void> | null = null;
  let mustSend = false;
  let open = 0;

  const note = (bodyFor: (spec: CallbackSpec) => CallbackBody | null): void => {
    for (const spec of specs) {
      const body = bodyFor(spec);
      if (body !== null) waiting.push({ id: `msg_${uuid4()}`, url: spec.url, body });
    }
  };
  const fail = (error: unknown): void => warn(failureText(error));
  const begin = (messages: readonly CallbackMessage[]): void => {
    open += 1;
    starting = scope
      .run(() => startDelivery(messages))
      .then(
        ({ ended }) => void ended.catch(fail).then(close),
        (error: unknown) => {
          fail(error);
          open -= 1;
        },
      )
      .then(() => {
        starting = null;
        send();
      });
  };
  const send = (): void => {
    const isDue = mustSend || open < MAX_OPEN || waiting.length >= MAX_TOGETHER;
    if (isDue && starting === null && waiting.length > 0) begin(waiting.splice(0, MAX_TOGETHER));
  };
  const close = (): void => {
    open -= 1;
    send();
  };
  return {
    hear: (event) => note((spec) => callbackOf(event, spec, place)),
    hearUnstarted: (step) => note((spec) => unstartedCallback(step, spec, place, recorded().now())),
    send,
    handOff: async () => {
      mustSend = true;
      send();
      while (starting !== null) await starting;
    },
  };
}

function placeOf(): CallbackPlace {
  const { workflowId, root } = workflowInfo();
  return { run: workflowId, root: root?.workflowId ?? workflowId };
}

/** Begins with the tenant of the run, because keys are chosen by it. */
function deliveryId(): string {
  const { workflowId } = workflowInfo();
  const tenant = tenantOfId(workflowId);
  return `${tenant === undefined ? '' : `${tenant}:`}${ownId('callbacks', uuid4())}`;
}

/** Settles when the service has started the delivery, with how it ends. */
async function startDelivery(
  messages: readonly CallbackMessage[],
): Promise<{ readonly ended: Promise<void> }> {
  const order: CallbackOrder = { v: 1, messages };
  const types = [...new Set(messages.map(({ body }) => body.type))].join(', ');
  const handle = await startChild(CALLBACK_WORKFLOW, {
    workflowId: deliveryId(),
    args: [order],
    parentClosePolicy: 'ABANDON',
    cancellationType: 'ABANDON',
    staticSummary: types,
    memo: { run: workflowInfo().workflowId },
  });
  return { ended: handle.result() };
}

function failureText(error: unknown): string {
  return errorText(error instanceof ChildWorkflowFailure ? (error.cause ?? error) : error);
}
