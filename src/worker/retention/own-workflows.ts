/** Which workflows of a namespace are Everloop's: others are neither looked at nor deleted. */
import { CALLBACK_WORKFLOW } from '../../core/contract/callback.ts';
import { AGENT_WORKFLOW, MOMENT_WORKFLOW } from '../../core/contract/messages.ts';
import { RATE_WORKFLOW } from '../../core/rate/rate.ts';
import { TENANT_WORKFLOW } from '../../core/tenant/tenant-messages.ts';

const TYPES = [AGENT_WORKFLOW, CALLBACK_WORKFLOW, MOMENT_WORKFLOW, RATE_WORKFLOW, TENANT_WORKFLOW];

/** A condition of Temporal's list filter. */
export const OWN_WORKFLOWS: string = `WorkflowType IN (${TYPES.map((type) => `'${type}'`).join(', ')})`;
