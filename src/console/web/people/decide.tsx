/** Approves, edits or denies a call. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { InboxRow } from '../../api.ts';
import { canAct } from '../base/connection.ts';
import { bindKeys } from '../base/keys.ts';
import { toolOf } from '../base/tools.ts';
import type { ApprovalScope } from '../../../core/contract/pending.ts';
import { KeyHint } from '../parts/marks.tsx';
import { OpenForm } from '../parts/open-form.tsx';
import { Plain } from '../parts/words.tsx';
import type { Answering } from './answering.ts';
import { EditArguments } from './edit-arguments.tsx';
import { KeyQuestion } from './key-question.tsx';

/** What is decided. */
export interface DecideProps {
  readonly row: InboxRow;
  readonly item: Extract<InboxRow['item'], { readonly kind: 'approval' }>;
  readonly answering: Answering;
  readonly hasKeys: boolean;
  /** Whether approving by a key needs a second one. */
  readonly asksAgain: boolean;
}

/** The buttons of an approval, or the form that one of them has opened. */
export function Decide(props: DecideProps): JSX.Element {
  const { row, item, answering, hasKeys, asksAgain } = props;
  const mode = useSignal<'choose' | 'approve' | 'always' | 'edit' | 'deny'>('choose');
  const isOff = answering.isSent.value || !canAct.value;
  const isChoosing = mode.value === 'choose';
  const back = (): void => void (mode.value = 'choose');
  const approve = (): void => void answering.decide({ approve: true });
  useLayoutEffect(() => {
    if (!hasKeys || !isChoosing) return undefined;
    const approveByKey = (): void => void (asksAgain ? (mode.value = 'approve') : approve());
    return bindKeys([
      { key: 'a', text: 'Approve', run: approveByKey },
      { key: 'e', text: 'Edit the arguments', run: () => (mode.value = 'edit') },
      { key: 'd', text: 'Deny', run: () => (mode.value = 'deny') },
    ]);
  }, [hasKeys, row.run, item.id, isChoosing, asksAgain]);
  switch (mode.value) {
    case 'approve':
      return (
        <KeyQuestion
          text={`Approve ${item.tool}? What it does is done once, and cannot be taken back.`}
          verb="Approve"
          isOff={isOff}
          onBack={back}
          onYes={approve}
        />
      );
    case 'always':
      return (
        <Always
          tool={item.tool}
          isOff={isOff}
          onBack={back}
          onSend={(remember) => void answering.decide({ approve: true, remember })}
        />
      );
    case 'edit':
      return (
        <EditArguments
          args={item.args}
          schema={toolOf(item.agent, item.tool)?.schema}
          isOff={isOff}
          onBack={back}
          onSend={(args) => void answering.decide({ args })}
        />
      );
    case 'deny':
      return (
        <Deny
          isOff={isOff}
          onBack={back}
          onSend={(reason) => void answering.decide({ deny: reason })}
        />
      );
    case 'choose':
      return (
        <div class="acts">
          <button type="button" class="btn primary" disabled={isOff} onClick={approve}>
            {answering.isSent.value ? 'Sent' : 'Approve'} <KeyHint on={hasKeys} name="a" />
          </button>
          <button
            type="button"
            class="btn"
            disabled={isOff}
            onClick={() => (mode.value = 'always')}
          >
            Always
          </button>
          <button type="button" class="btn" disabled={isOff} onClick={() => (mode.value = 'edit')}>
            Edit <KeyHint on={hasKeys} name="e" />
          </button>
          <button
            type="button"
            class="btn danger"
            disabled={isOff}
            onClick={() => (mode.value = 'deny')}
          >
            Deny <KeyHint on={hasKeys} name="d" />
          </button>
        </div>
      );
  }
}

interface AlwaysProps {
  readonly tool: string;
  readonly isOff: boolean;
  readonly onBack: () => void;
  readonly onSend: (remember: ApprovalScope) => void;
}

function Always({ tool, isOff, onBack, onSend }: AlwaysProps): JSX.Element {
  return (
    <div class="acts row">
      <span class="muted">In this run, also approve later calls</span>
      <button
        type="button"
        class="btn primary"
        disabled={isOff}
        onClick={() => onSend('arguments')}
      >
        with these arguments
      </button>
      <button type="button" class="btn" disabled={isOff} onClick={() => onSend('tool')}>
        of <Plain text={tool} />
      </button>
      <button type="button" class="btn" onClick={onBack}>
        Back
      </button>
    </div>
  );
}

interface DenyProps {
  readonly isOff: boolean;
  readonly onBack: () => void;
  readonly onSend: (reason: string) => void;
}

function Deny({ isOff, onBack, onSend }: DenyProps): JSX.Element {
  const reason = useSignal('');
  return (
    <OpenForm
      class="deny"
      onBack={onBack}
      onSubmit={() => {
        if (!isOff) onSend(reason.value);
      }}
    >
      <input
        aria-label="Reason, which the model reads"
        placeholder="Reason, which the model reads"
        value={reason.value}
        onInput={(event) => (reason.value = event.currentTarget.value)}
      />
      <div class="acts">
        <button type="submit" class="btn danger" disabled={isOff}>
          Deny
        </button>
        <button type="button" class="btn" onClick={onBack}>
          Back
        </button>
      </div>
    </OpenForm>
  );
}
