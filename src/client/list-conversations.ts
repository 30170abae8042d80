/** Lists conversations, which needs no worker. */
import { defined } from '../core/base/defined.ts';
import { conversationOf, conversationWorkflow } from '../core/base/ids.ts';
import { tenantOfId } from '../core/tenant/tenant.ts';
import type { PageOptions, RunPage, RunSummary } from './run-list.ts';

/** Which conversations to list. */
export interface ConversationListOptions extends Pick<
  PageOptions,
  'agent' | 'tenant' | 'running' | 'since' | 'limit' | 'cursor'
> {
  /** Only those whose id begins with this, such as the name of the person whose they are. */
  readonly idPrefix?: string;
}

/** A conversation in a list. */
export interface ConversationSummary {
  readonly id: string;
  readonly tenant?: string;
  readonly agent: string;
  /** The beginning of its first message. */
  readonly text: string;
  /** Whether it goes on: a turn is open, or it waits for a message. */
  readonly isOpen: boolean;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
}

/** One page of a list of conversations. */
export interface ConversationPage {
  /** Those that began last come first. One that went on after its end is where it began last. */
  readonly conversations: readonly ConversationSummary[];
  /** Of the next page; null: the list ends here. */
  readonly cursor: string | null;
}

/** A page of conversations, by way of `listPage` of the runs. */
export async function listConversations(
  listPage: (options: PageOptions) => Promise<RunPage>,
  { idPrefix = '', ...options }: ConversationListOptions,
): Promise<ConversationPage> {
  const { tenant } = options;
  const page = await listPage({
    ...options,
    roots: true,
    idPrefix: conversationWorkflow(idPrefix, tenant),
  });
  const byId = new Map<string, ConversationSummary>();
  for (const run of page.runs) {
    const one = summaryOf(run);
    if (one !== undefined && !byId.has(run.id)) byId.set(run.id, one);
  }
  return { conversations: [...byId.values()], cursor: page.cursor };
}

function summaryOf(run: RunSummary): ConversationSummary | undefined {
  const id = conversationOf(run.id);
  if (id === undefined) return undefined;
  const { agent, task: text, startedAt, closedAt, status } = run;
  const tenant = tenantOfId(run.id);
  return {
    id,
    ...defined({ tenant }),
    agent,
    text,
    isOpen: status === 'RUNNING',
    startedAt,
    closedAt,
  };
}
