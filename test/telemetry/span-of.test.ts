/** Which span each type of event ends, and below which span that is. */
import { expect, test } from 'vitest';
import type { EventBody, EventPlace, EventType } from '../../src/core/contract/events.ts';
import { unstartedStep } from '../../src/core/run/step-of.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { SPAN_NAMES, spanIdOf } from '../../src/telemetry/ids.ts';
import { spanOf } from '../../src/telemetry/span-of.ts';

type Fields<Type extends EventType> = Omit<Extract<EventBody, { readonly type: Type }>, 'type'>;

/** An event of the type; the name of the span that it ends and that of its parent, or nothing. */
type Row<Type extends EventType> =
  | readonly [fields: Fields<Type>, span: string, below: string]
  | readonly [fields: Fields<Type>, null];

const LIMIT = { kind: 'exact', key: 'agent:iterations', max: 2 } as const;
const CALL = { callId: '2.1', tool: 'search', args: {} } as const;
const TURN = 'turn 2';
const TOOL = 'tool 2.1';
const RUN = 'run';

const STEP = unstartedStep('clerk', 'canceled', '', {
  workflowId: 'w',
  executionId: 'x',
  firstExecutionId: 'x',
  unreadInputs: [],
  chain: { links: 1, events: 0, entries: 0, inputs: 0 },
});

/** A new type of event does not compile until its row stands here. */
const ROWS: { readonly [Type in EventType]: Row<Type> } = {
  'agent:execution:before': [{ mode: 'chat', limits: [] }, null],
  'agent:execution:after': [
    { status: 'success', reason: 'answer' },
    'invoke_agent clerk',
    'caller',
  ],
  'agent:execution:handover': [{ run: 1 }, 'link 1', RUN],
  'agent:turn:before': [{ turn: 1, messageId: 'm', limits: [] }, null],
  'agent:turn:after': [{ turn: 1, step: STEP }, 'message 1', RUN],
  'agent:iteration:before': [{}, null],
  'agent:iteration:after': [{ outcome: 'end', durationMs: 5 }, 'turn 2', RUN],
  'agent:model_call:before': [{ model: 'm', purpose: 'reply', messages: 1 }, null],
  'agent:model_attempt_failed': [
    { model: 'm', purpose: 'reply', attempt: 1, code: 'model_error', message: '', retryInMs: 1 },
    null,
  ],
  'agent:model_call:after': [
    {
      model: 'm',
      purpose: 'reply',
      began: 3,
      usage: noUsage,
      usageKnown: true,
      attempts: 1,
      durationMs: 5,
    },
    'chat m',
    TURN,
  ],
  'agent:structured_output_downgraded': [
    { model: 'm', from: 'schema', to: 'tool' },
    'downgrade',
    TURN,
  ],
  'agent:guarded': [{ outcome: 'passed', durationMs: 5 }, 'guard', RUN],
  'agent:model_changed': [{ model: 'm' }, 'model_changed', TURN],
  'agent:turn:read': [{ kind: 'answer', blocks: {} }, null],
  'agent:section:read': [{ name: 'answer' }, null],
  'agent:parse_error': [{ family: 'format', problems: [], raw: '' }, null],
  'agent:tool_call:before': [CALL, null],
  'agent:tool_call:after': [
    { ...CALL, outcome: 'ok', started: true, attempts: 1, durationMs: 5 },
    'execute_tool search',
    TURN,
  ],
  'agent:program:before': [{ programId: '2.p', source: '1' }, null],
  'agent:program:after': [
    { programId: '2.p', outcome: 'value', steps: 1, calls: 0, durationMs: 5 },
    'program',
    TURN,
  ],
  'agent:child:spawn': [{ childId: 'run/2.1', childAgent: 'helper', callId: '2.1' }, null],
  'agent:child:report': [{ childId: 'run/2.1', number: 1, totals: {}, added: {} }, null],
  'agent:child:granted': [{ childId: 'run/2.1', number: 1, leases: [] }, null],
  'agent:child:complete': [
    {
      childId: 'run/2.1',
      status: 'success',
      reason: 'answer',
      totals: {},
      added: {},
      durationMs: 5,
    },
    null,
  ],
  'agent:lease:asked': [{ wants: [] }, null],
  'agent:lease:answered': [{ number: 1, leases: [] }, null],
  'agent:deadlines:changed': [{ number: 1, deadlines: [] }, null],
  'agent:question:asked': [{ questionId: '2.1', text: '' }, null],
  'agent:question:answered': [
    { questionId: '2.1', callId: '2.1', waitedMs: 5 },
    'wait question',
    TOOL,
  ],
  'agent:approval:requested': [CALL, null],
  'agent:approval:decided': [
    { callId: '2.1', decision: 'approve', waitedMs: 5 },
    'wait approval',
    TOOL,
  ],
  'agent:approval:revoked': [{ callId: '2.1' }, null],
  'agent:external:begun': [{ callId: '2.1', tool: 'build' }, null],
  'agent:external:ended': [{ callId: '2.1', outcome: 'ok', waitedMs: 5 }, 'wait external', TOOL],
  'agent:waiting': [{}, null],
  'agent:validator:called': [{ validator: 'v', answer: '' }, null],
  'agent:validator:result': [{ validator: 'v', accepted: true }, null],
  'agent:answer:judged': [{ outcome: 'accepted', durationMs: 5 }, 'judge', TURN],
  'agent:input': [{ inputId: 'i', kind: 'steer', position: 1 }, 'input', TURN],
  'agent:adjusted': [{ limits: [] }, null],
  'agent:paused': [{}, null],
  'agent:resumed': [{ waitedMs: 5 }, 'wait pause', RUN],
  'agent:iteration_history:change': [{ index: 1 }, null],
  'agent:scratchpad:change': [
    { epoch: 1, lengthBefore: 1, lengthAfter: 2, added: 1, removed: 0 },
    null,
  ],
  'agent:compaction': [
    {
      strategy: 'mask',
      lengthBefore: 2,
      lengthAfter: 1,
      tokensBefore: 2,
      tokensAfter: 1,
      epoch: 2,
      durationMs: 5,
    },
    'compact mask',
    TURN,
  ],
  'agent:data:change': [{ bytes: 2 }, null],
  'agent:limit_exceeded': [
    { limit: LIMIT, key: LIMIT.key, value: 2, origin: 'self' },
    'limit',
    TURN,
  ],
  'agent:error': [{ message: '' }, null],
  'agent:warning': [{ code: 'c', message: '' }, 'warning', TURN],
};

const CALLER = 'd'.repeat(16);

const PLACE: EventPlace = {
  workflowId: 'run',
  link: 1,
  rootRunId: 'run',
  rootWorkflowId: 'run',
  trace: { parent: `00-${'c'.repeat(32)}-${CALLER}-01` },
  kind: 'agent',
  startedAt: 1_000,
  linkStartedAt: 1_000,
  historyEvents: 1,
  historyBytes: 1,
};

/** The spans that rows name as parents, by id. */
const PARENTS = new Map([
  [CALLER, 'caller'],
  [spanIdOf('run', SPAN_NAMES.run), RUN],
  [spanIdOf('run', SPAN_NAMES.turn(2)), TURN],
  [spanIdOf('run', SPAN_NAMES.tool('2.1')), TOOL],
]);

test.each(Object.entries(ROWS))('%s', (type, [fields, name, below]) => {
  const base = { seq: 7, runId: 'run', agent: 'clerk', agentPath: 'clerk', iteration: 2, depth: 0 };
  const event = { ...base, at: 2_000, ...fields, type: type as EventType } as never;
  const span = spanOf(event, { place: PLACE, content: 'full' });
  expect(span === null ? [null] : [span.name, PARENTS.get(span.parentId ?? '')]).toEqual(
    name === null ? [null] : [name, below],
  );
  expect(span?.endMs ?? 2_000).toBe(2_000);
});
