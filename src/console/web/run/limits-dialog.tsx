/** Shows all limits of a run and changes its own, with the effect in words before it is sent. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { amountText } from '../../view/amounts.ts';
import type { BudgetBar } from '../../view/budgets.ts';
import { runPath } from '../base/api.ts';
import { mayAct } from '../base/connection.ts';
import { ActionDialog } from '../parts/action-dialog.tsx';
import { Bar, barText } from '../parts/marks.tsx';
import { Plain } from '../parts/words.tsx';
import type { RunModel } from './run-state.ts';

/** What the dialog shows. */
export interface LimitsDialogProps {
  readonly run: RunModel;
  readonly bars: readonly BudgetBar[];
  readonly onClose: () => void;
}

/** Names of the limits in the API, by their key. */
const NAMES: Readonly<Record<string, string>> = {
  'agent:iterations': 'iterations',
  'agent:input_tokens': 'inputTokens',
  'agent:output_tokens': 'outputTokens',
  'agent:total_tokens': 'totalTokens',
  'agent:cost_microusd': 'costUsd',
  'agent:model_calls': 'modelCalls',
  'agent:tool_calls': 'toolCalls',
  'agent:children': 'children',
  'agent:depth': 'depth',
};

/** The dialog of limits. */
export function LimitsDialog({ run, bars, onClose }: LimitsDialogProps): JSX.Element {
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const isEnded = run.header.value?.state === 'ended';
  const changes = bars.flatMap((bar) => {
    const text = texts.value[bar.key];
    if (text === undefined || text === '' || bar.ancestor !== undefined) return [];
    const value = Number(text);
    return Number.isFinite(value) && value >= 0 ? [{ bar, value }] : [];
  });
  return (
    <ActionDialog
      title="Limits"
      verb="Change"
      path={runPath(run.id, '/adjust')}
      body={() => ({ limits: limitsOf(changes) })}
      isReady={changes.length > 0 && !isEnded}
      onClose={onClose}
      done={() => 'The limits were changed.'}
    >
      {bars.length === 0 ? <p class="muted">This run has no limits.</p> : null}
      {bars.map((bar) => (
        <div class="limit" key={`${bar.key} ${bar.ancestor ?? ''}`}>
          <div class="row between">
            <span title={bar.key}>
              {bar.label}
              {bar.ancestor === undefined ? null : (
                <span class="muted">
                  {' '}
                  of <Plain text={bar.ancestor} />
                </span>
              )}
              {bar.byDefault === true ? <span class="faint"> by default</span> : null}
            </span>
            <span class="muted">{barText(bar)}</span>
          </div>
          <Bar bar={bar} />
          {bar.ancestor === undefined && !isEnded && mayAct.value ? (
            <input
              aria-label={`New limit: ${bar.label}${bar.unit === 'usd' ? ', in dollars' : ''}`}
              inputMode="decimal"
              placeholder={bar.unit === 'usd' ? 'new limit in dollars' : 'new limit'}
              value={texts.value[bar.key] ?? ''}
              onInput={(event) =>
                (texts.value = { ...texts.value, [bar.key]: event.currentTarget.value })
              }
            />
          ) : null}
        </div>
      ))}
      {changes.map(({ bar, value }) => (
        <p class="muted" key={bar.key} role="status">
          {effectOf(bar, bar.unit === 'usd' ? value * 1_000_000 : value)}
        </p>
      ))}
    </ActionDialog>
  );
}

function limitsOf(changes: readonly { readonly bar: BudgetBar; readonly value: number }[]): object {
  const custom: object[] = [];
  const named: Record<string, unknown> = {};
  for (const { bar, value } of changes) {
    const name = NAMES[bar.key];
    if (name !== undefined) named[name] = value;
    else custom.push({ kind: 'exact', key: bar.key, max: value });
  }
  return custom.length === 0 ? named : { ...named, custom };
}

function effectOf({ label, unit, used, reserved }: BudgetBar, max: number): string {
  const free = max - used - reserved;
  if (max < used) {
    return `${label} ${amountText(unit, max)} is below what is spent, ${amountText(unit, used)}: the run ends at its next check.`;
  }
  if (free < 0) {
    return `${label} ${amountText(unit, max)} is below what is spent and reserved: parts are taken back from children.`;
  }
  return `${label} ${amountText(unit, max)} leaves ${amountText(unit, free)} free.`;
}
