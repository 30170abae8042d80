/** Links of models: where they lead, and when their words already say so. */
import { describe, expect, it } from 'vitest';
import { linkTarget, namesPlace } from '../../../src/console/web/parts/link-target.ts';

/** Whether the page may leave out the host of a link with these words. */
function saysPlace(words: string, href = words): boolean | null {
  const target = linkTarget(href);
  return target && namesPlace(words, target);
}

describe('a link of a model', () => {
  it('leads to http, https and mailto alone', () => {
    expect(linkTarget('https://a.example/b')).toMatchObject({ place: 'a.example' });
    expect(linkTarget('mailto:ada@a.example')).toMatchObject({ place: 'ada@a.example' });
    for (const href of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/runs'])
      expect(linkTarget(href), href).toBeNull();
  });

  it('need not repeat a place with which its words begin', () => {
    expect(saysPlace('https://a.example')).toBe(true);
    expect(saysPlace('https://a.example/b?c')).toBe(true);
    expect(saysPlace('www.a.example', 'http://www.a.example')).toBe(true);
    expect(saysPlace('ada@a.example', 'mailto:ada@a.example')).toBe(true);
  });

  it('shows its place where its words look like another', () => {
    expect(saysPlace('https://bank.example', 'https://evil.example')).toBe(false);
    expect(saysPlace('your bank', 'https://evil.example')).toBe(false);
    expect(saysPlace('https://bank.example@evil.example/login')).toBe(false);
    expect(saysPlace('https://evil.example.bank.example', 'https://evil.example')).toBe(false);
    // The first letter is Cyrillic.
    expect(saysPlace('https://\u0430pple.com')).toBe(false);
  });
});
