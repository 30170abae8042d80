import { describe, expect, it } from 'vitest';
import { createHeardCancels, NO_CANCELS } from '../../src/activities/heard-cancels.ts';

/** Cancels, and what three calls of two executions heard of them. */
function scene() {
  const cancels = createHeardCancels();
  const heard: string[] = [];
  const listen = (executionId: string | undefined, abortId: string | undefined): (() => void) =>
    cancels.listen({ executionId, abortId }, () => heard.push(`${executionId} ${abortId}`));
  return { cancels, heard, listen };
}

describe('cancels of workflows in the same process', () => {
  it('reach all calls of an execution, or only the one that is named', () => {
    const { cancels, heard, listen } = scene();
    listen('e1', 'a');
    listen('e1', undefined);
    listen('e2', 'a');
    listen(undefined, undefined);

    cancels.tell('e1', 'a');
    expect(heard).toEqual(['e1 a']);
    cancels.tell('e1', 'unknown');
    cancels.tell('e3');
    expect(heard).toEqual(['e1 a']);
    cancels.tell('e1');
    expect(heard).toEqual(['e1 a', 'e1 a', 'e1 undefined']);
  });

  it('reach no call that has ended, nor one that begins later', () => {
    const { cancels, heard, listen } = scene();
    const forget = listen('e1', undefined);
    forget();
    forget();
    cancels.tell('e1');
    listen('e1', undefined);

    expect(heard).toEqual([]);
  });

  it('may end a call while they are told', () => {
    const { cancels, heard, listen } = scene();
    const forget = cancels.listen({ executionId: 'e1', abortId: undefined }, () => forget());
    listen('e1', undefined);

    cancels.tell('e1');
    cancels.tell('e1');

    expect(heard).toHaveLength(2);
  });

  it('are told to nobody by default', () => {
    NO_CANCELS.listen({ executionId: 'e1', abortId: undefined }, () => expect.fail('told'))();
    NO_CANCELS.tell('e1');
  });
});
