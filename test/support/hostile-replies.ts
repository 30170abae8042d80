/** Replies that a model may write on its worst day, from a seed: the same seed, the same replies. */

/** Numbers in [0, 1), the same for the same seed. Mulberry32 by T. Ettinger, public domain. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Replies that a run would take, to be mutated. */
const goodReplies: readonly string[] = [
  '<thinking>I need the booking.</thinking>\n<action>\ntool: search\nargs:\n  query: "a: b"\n</action>',
  '<action>\n- tool: search\n  args: {query: x, count: 007}\n- tool: book\n  args:\n    text: |\n      a: b # c\n      d\n</action>',
  '<action>```json\n[{"tool": "search", "args": {"query": "\\u00e9\\n"}}]\n```</action>',
  '<plan>{"a": [1, 2.5e3, null, true]}</plan><answer>Done: <b>x</b> &amp; y</answer>',
  '# Thinking\nSee `# Answer`.\n# Action\n```yaml\n# note\ntool: search\n```\n',
  '# Plan\n- a\n- b\n# Answer\n| x | y |\n~~~\n```\n~~~\n',
  '{"tool": "search", "args": {"query": "x", "nested": [[{"a": "b"}]]}}',
  '- tool: search\n  args: &a {query: !!str 5}\n- tool: book\n  args: *a\n',
];

/** Pieces that readers look for, or stumble over. */
const pieces: readonly string[] = [
  '<answer>',
  '</answer>',
  '<action>',
  '</action >',
  '<plan',
  '</',
  '# Answer\n',
  '# Action',
  '```',
  '~~~~\n',
  '\n',
  '\r\n',
  '\t',
  '  ',
  '- ',
  ': ',
  '? ',
  '{',
  '}',
  '[',
  ']',
  ',',
  '"',
  "'",
  '\\',
  '\\u',
  '|\n',
  '>-\n',
  '#',
  '&a ',
  '*a',
  '!!int ',
  '!t ',
  '%',
  '---\n',
  '...\n',
  '<<: ',
  '"__proto__": ',
  '__proto__: ',
  'constructor: ',
  'tool: ',
  'args:',
  'null',
  'true',
  '1e999',
  '12345678901234567890',
  '-0',
  '\u0000',
  '\u001b[31m',
  '\ud800',
  '\udc00',
  '\u2028',
  '\ufeff',
  '😀',
];

/** Texts whose size or depth is the trouble. */
const largeReplies: readonly (() => string)[] = [
  () => '<answer>'.repeat(125_000),
  () => '</answer>'.repeat(110_000),
  () => '<answer          '.repeat(60_000),
  () => '# Answer\n'.repeat(110_000),
  () => '```a\n'.repeat(200_000),
  () => Array.from({ length: 1000 }, (_, i) => '`'.repeat(1003 - i)).join('\n'),
  () => `<action>${'['.repeat(10_000)}</action>`,
  () => `<action>${'{"a":'.repeat(10_000)}</action>`,
  () => `<action>${'- '.repeat(10_000)}</action>`,
  () => `<action>${'? '.repeat(10_000)}</action>`,
  () => `<action>a: &a [x]\n${'b: &b [*a,*a]\n'.repeat(5000)}</action>`,
  () => `<action>${'- *a\n'.repeat(20_000)}</action>`,
  () => `<action>${'k: 1\n'.repeat(20_000)}</action>`,
  () => `<action>${'"'.repeat(100_000)}</action>`,
  () => `<action>${'{}'.repeat(50_000)}</action>`,
  () => `<action>${JSON.stringify('\u0001"\\'.repeat(30_000))}</action>`,
  () => `<action>${'x'.repeat(1_000_000)}</action>`,
];

/** How many replies {@link hostileReply} gives before it begins to make them up. */
export const largeReplyCount: number = largeReplies.length;

/** The reply at `index` from 0: large ones first, then mutations and piles of pieces. */
export function hostileReply(index: number, random: () => number): string {
  const large = largeReplies[index];
  if (large !== undefined) return large();
  return random() < 0.6 ? mutated(random) : piled(random);
}

function mutated(random: () => number): string {
  let text = pick(goodReplies, random);
  for (let edits = 1 + Math.floor(random() * 6); edits > 0; edits--) {
    const at = Math.floor(random() * (text.length + 1));
    const length = Math.floor(random() * 12);
    const kind = random();
    if (kind < 0.3) text = text.slice(0, at) + text.slice(at + length);
    else if (kind < 0.7) text = text.slice(0, at) + pick(pieces, random) + text.slice(at);
    else if (kind < 0.8) text = text.slice(0, at);
    else if (kind < 0.9) text += text.slice(at, at + length * 20);
    else text = text.slice(0, at) + pick(goodReplies, random) + text.slice(at);
  }
  return text;
}

function piled(random: () => number): string {
  const count = Math.floor(random() ** 3 * 400);
  return Array.from({ length: count }, () => pick(pieces, random)).join('');
}

function pick<T>(values: readonly T[], random: () => number): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('Expected at least one value, got none.');
  return value;
}
