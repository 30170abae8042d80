/** A dialog that sends one action: sent, then accepted with its position, or the refusal in place. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { ActionAnswer } from '../../api-actions.ts';
import { say, send } from '../base/actions.ts';
import { newRequestId } from '../base/api.ts';
import { canAct } from '../base/connection.ts';
import { Dialog } from './dialog.tsx';

/** What a dialog sends. */
export interface ActionDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly path: string;
  readonly body: () => object;
  readonly isReady: boolean;
  readonly isDanger?: true;
  readonly onClose: () => void;
  /** Called when it was accepted, after the dialog was closed. */
  readonly onAccepted?: (answer: ActionAnswer) => void;
  /** What is said when it was accepted. */
  readonly done: (answer: ActionAnswer) => string;
  readonly children: ComponentChildren;
}

/** The codes of what may have been taken. */
const UNDECIDED: readonly string[] = ['busy', 'service_unavailable'];

/** A dialog that sends one action: sent, then accepted, or the refusal in place. */
export function ActionDialog(props: ActionDialogProps): JSX.Element {
  const isSent = useSignal(false);
  const refusal = useSignal('');
  const requestId = useSignal(newRequestId());
  const act = async (): Promise<void> => {
    if (!props.isReady || isSent.value) return;
    isSent.value = true;
    const sent = await send(props.path, props.body(), requestId.value);
    isSent.value = false;
    if (sent.kind === 'accepted') {
      say(props.done(sent.answer));
      props.onClose();
      props.onAccepted?.(sent.answer);
      return;
    }
    refusal.value = sent.message;
    // What may still be taken is asked for under its own id, so that it is not done twice.
    if (!UNDECIDED.includes(sent.code)) requestId.value = newRequestId();
  };
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={() => void act()}
      foot={
        <>
          <button type="button" class="btn" onClick={props.onClose}>
            Close
          </button>
          <button
            type="submit"
            class={props.isDanger === true ? 'btn danger' : 'btn primary'}
            disabled={!props.isReady || isSent.value || !canAct.value}
          >
            {isSent.value ? 'Sent' : props.verb}
          </button>
        </>
      }
    >
      {props.children}
      {refusal.value === '' ? null : (
        <p class="notice bad" role="alert">
          {refusal.value}
        </p>
      )}
    </Dialog>
  );
}
