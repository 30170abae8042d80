import { afterEach, describe, expect, it, vi } from 'vitest';
import { warnOfId } from '../../src/protection/warn-of-id.ts';

const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterEach(() => warn.mockClear());

describe('warnOfId', () => {
  it.each([
    'order-4711',
    'acme:clerk-019a3f5e-1b2c-7d3e-8f90-0123456789ab/1.2',
    'c7d3e8f901c7d3e8f901c7d3e8f901c7d3e8f901',
    'ada@example.com',
  ])('says nothing of %s', (id) => {
    warnOfId('quiet', id);

    expect(warn).not.toHaveBeenCalled();
  });

  it.each(['sk_live_51H4x9aBcDeFgHiJ', 'user:token=abcdef12', 'https://a.example/?key=1'])(
    'warns of %s once for its agent, and does not show it',
    (id) => {
      warnOfId(`agent of ${id.slice(0, 4)}`, id);
      warnOfId(`agent of ${id.slice(0, 4)}`, id);

      expect(warn).toHaveBeenCalledTimes(1);
      expect(String(warn.mock.calls[0]?.[0])).toContain('looks as if it held a secret');
      expect(String(warn.mock.calls[0]?.[0])).not.toContain(id);
    },
  );
});
