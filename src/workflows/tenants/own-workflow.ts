/** Workflows of our own: each refuses to begin under an id that is none of its kind. */
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { ownName, type OwnIdKind } from '../../core/base/ids.ts';
import { shown } from '../../core/text/shown.ts';

/**
 * What the id of this workflow names.
 *
 * @throws ApplicationFailure `invalid_input` under another id: any client may start a workflow.
 */
export function ownWorkflowName(kind: OwnIdKind): string {
  const { workflowId } = workflowInfo();
  const name = ownName(kind, workflowId);
  if (name !== undefined && name !== '') return name;
  const message = `Expected an id of Everloop's own for this workflow, got ${shown(workflowId)}. Start runs with a client of Everloop.`;
  throw ApplicationFailure.create({ type: 'invalid_input', message, nonRetryable: true });
}
