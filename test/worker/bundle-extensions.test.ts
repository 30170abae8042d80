import { describe, expect, it } from 'vitest';
import type { OwnFormat } from '../../src/core/format/own-format.ts';
import { bundleExtensions } from '../../src/worker/bundle/bundle-extensions.ts';

/** What a bundle does that adds the formats `b` and, of a class, `c`. */
const BUNDLE = `
class Shouting {
  describe() { return this.loud('sections'); }
  loud(text) { return text.toUpperCase(); }
  parse() { return []; }
  format() { return ''; }
}
globalThis.__TEMPORAL__ = {
  importWorkflows: () => {
    globalThis.__EVERLOOP_OWN_PARTS__ = {
      formats: new Map([
        ['b', {
          describe: (sections) => sections.map(({ name }) => name).join(),
          parse: () => { throw new TypeError('no brackets'); },
          format: () => { for (;;); },
        }],
        ['c', new Shouting()],
      ]),
      sections: new Map(), toolchains: new Map(), answers: new Map(),
    };
  },
};`;

describe('the own parts of a bundle', () => {
  const extensions = bundleExtensions(BUNDLE, 1_000);
  const format = (name: string): OwnFormat => extensions.find('formats', name) as OwnFormat;

  it('are found by kind and name', () => {
    expect(extensions.names('formats')).toEqual(['b', 'c']);
    expect(extensions.find('formats', 'd')).toBeUndefined();
    expect(extensions.find('answers', 'b')).toBeUndefined();
  });

  it('are called with JSON, methods of a class too', () => {
    expect(format('b').describe([{ name: 'x', guidance: '' }])).toBe('x');
    expect(format('c').describe([])).toBe('SECTIONS');
  });

  it('throw errors with the messages of their own', () => {
    expect(() => format('b').parse('', [])).toThrow(new Error('no brackets'));
  });

  it('may not hold the worker', () => {
    expect(() => format('b').format([])).toThrow('timed out after 1000ms');
    expect(format('b').describe([])).toBe('');
  });

  it('are loaded by a module that asks for time and chance', () => {
    const asking = bundleExtensions(
      BUNDLE.replace(
        'importWorkflows: () => {',
        'importWorkflows: () => { const { now, random } = globalThis.__TEMPORAL_ACTIVATOR__; random(now);',
      ),
    );

    expect(asking.names('formats')).toEqual(['b', 'c']);
  });

  it('are none where a bundle adds none, and an error of its own where it does not load', () => {
    const plain = bundleExtensions('globalThis.__TEMPORAL__ = { importWorkflows: () => ({}) };');
    const broken = bundleExtensions('throw new Error("no module");');

    expect(plain.names('formats')).toEqual([]);
    expect(() => broken.names('formats')).toThrow(new Error('no module'));
  });
});
