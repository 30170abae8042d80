import { describe, expect, it } from 'vitest';
import { completeInput } from '../../../src/core/start/check-input.ts';
import {
  acceptInput,
  createMailbox,
  EMPTY_INBOX,
  freeInputId,
  MAX_REMEMBERED_IDS,
  positionOf,
  requestCancel,
  takeInputs,
  type Inbox,
  type RunInput,
} from '../../../src/core/run/inbox.ts';

const input = (id: string, kind: RunInput['kind'] = 'queue'): RunInput => ({ id, kind, text: id });

function inboxWith(...inputs: readonly RunInput[]): Inbox {
  return inputs.reduce((inbox, one) => acceptInput(inbox, one).inbox, EMPTY_INBOX);
}

describe('an input that another client sent [R16]', () => {
  it('may be a text, or leave out kind and id', () => {
    const media = [{ mediaType: 'image/png', url: 'https://a/b.png' }];

    expect(completeInput('hi', 'input-1')).toEqual({ id: 'input-1', kind: 'queue', text: 'hi' });
    expect(completeInput({ text: 'hi', kind: 'steer' }, 'input-1')).toEqual({
      id: 'input-1',
      kind: 'steer',
      text: 'hi',
    });
    expect(completeInput({ id: 'a', media }, 'input-1')).toEqual({
      id: 'a',
      kind: 'queue',
      text: '',
      media,
    });
  });

  it.each([null, 5, [], {}, { id: 'a' }])('stays %j when it is no input', (value) => {
    expect(completeInput(value, 'input-1')).toBe(value);
  });

  it('gets an id that no other input has', () => {
    expect(freeInputId(EMPTY_INBOX)).toBe('input-1');
    expect(freeInputId(inboxWith(input('input-2'), input('input-3')))).toBe('input-4');
  });
});

describe('the inbox', () => {
  it('[row 8] gives positions in order of arrival', () => {
    const first = acceptInput(EMPTY_INBOX, input('a'));
    const second = acceptInput(first.inbox, input('b'));

    expect([first.position, first.isNew, second.position, second.isNew]).toEqual([
      1,
      true,
      2,
      true,
    ]);
    expect(second.inbox).toEqual({
      accepted: 2,
      remembered: [
        { id: 'a', position: 1 },
        { id: 'b', position: 2 },
      ],
      waiting: [
        { ...input('a'), position: 1 },
        { ...input('b'), position: 2 },
      ],
      cancel: null,
    });
  });

  it('[row 8] leaves everything as it is for a known id, and tells its first position', () => {
    const inbox = inboxWith(input('a'), input('b'));

    const again = acceptInput(inbox, { ...input('a', 'interrupt'), text: 'other' });

    expect(again).toEqual({ inbox, position: 1, isNew: false });
    expect(again.inbox).toBe(inbox);
  });

  it('[row 8] knows ids that were taken in', () => {
    const { inbox } = takeInputs(inboxWith(input('a')));

    expect(positionOf(inbox, 'a')).toBe(1);
    expect(positionOf(inbox, 'b')).toBeUndefined();
    expect(acceptInput(inbox, input('b')).position).toBe(2);
  });

  it('[row 8] gives steering and interrupting inputs first, in order of arrival', () => {
    const inbox = inboxWith(
      input('q1'),
      input('s1', 'steer'),
      input('q2'),
      input('i1', 'interrupt'),
      input('s2', 'steer'),
    );

    const taken = takeInputs(inbox);

    expect(taken.inputs.map(({ id }) => id)).toEqual(['s1', 'i1', 's2', 'q1', 'q2']);
    expect(taken.inbox).toEqual({ ...inbox, waiting: [] });
  });

  it('takes nothing out of an empty one', () => {
    expect(takeInputs(EMPTY_INBOX)).toEqual({ inbox: EMPTY_INBOX, inputs: [] });
  });

  it('remembers the newest ids only, so that it stays small', () => {
    const ids = Array.from({ length: MAX_REMEMBERED_IDS + 1 }, (_, index) => input(`${index}`));

    const inbox = takeInputs(inboxWith(...ids)).inbox;

    expect(inbox.remembered).toHaveLength(MAX_REMEMBERED_IDS);
    expect([positionOf(inbox, '0'), positionOf(inbox, '1')]).toEqual([undefined, 2]);
  });

  it('[row 2] keeps the first cause of a cancel', () => {
    const first = requestCancel(EMPTY_INBOX, { reason: 'canceled', message: 'first' });

    expect(requestCancel(first, { reason: 'parent_canceled', message: 'second' })).toBe(first);
  });
});

describe('a mailbox', () => {
  it.each<{
    name: string;
    act: (mailbox: ReturnType<typeof createMailbox>) => void;
    urgent: number;
  }>([
    { name: 'a queued input', act: (mailbox) => mailbox.accept(input('x')), urgent: 0 },
    { name: 'a steering input', act: (mailbox) => mailbox.accept(input('x', 'steer')), urgent: 0 },
    { name: 'an interrupt', act: (mailbox) => mailbox.accept(input('x', 'interrupt')), urgent: 1 },
    {
      name: 'a repeated interrupt',
      act: (mailbox) => mailbox.accept(input('known', 'interrupt')),
      urgent: 0,
    },
    {
      name: 'a cancel',
      act: (mailbox) => mailbox.cancel({ reason: 'canceled', message: '' }),
      urgent: 1,
    },
  ])('[row 8] calls for attention $urgent times at $name', ({ act, urgent }) => {
    let calls = 0;
    const mailbox = createMailbox(inboxWith(input('known')), () => {
      calls += 1;
    });

    act(mailbox);

    expect(calls).toBe(urgent);
  });

  it('gives what it took in once', () => {
    const mailbox = createMailbox(EMPTY_INBOX, () => undefined);

    const positions = [mailbox.accept(input('a')), mailbox.accept(input('a'))];
    const taken = [mailbox.take(), mailbox.take()];

    expect(positions).toEqual([1, 1]);
    expect(taken).toEqual([[{ ...input('a'), position: 1 }], []]);
    expect(mailbox.peek().waiting).toEqual([]);
  });

  it('[row 6] keeps what a parent says until it is heard, also over a hand-over', () => {
    const mailbox = createMailbox(EMPTY_INBOX, () => undefined);
    const first = { v: 1, kind: 'deadlines', number: 4, deadlines: [] } as const;
    const second = { v: 1, kind: 'lease-grant', number: 0, leases: [] } as const;

    mailbox.keep(first);
    mailbox.keep(second);
    const next = createMailbox(mailbox.peek(), () => undefined);

    expect([next.takeKept(), next.takeKept()]).toEqual([[first, second], []]);
    expect(next.peek()).toEqual(EMPTY_INBOX);
  });
});
