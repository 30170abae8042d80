/**
 * `npm run test:nodes [-- VERSION… PART…]`: runs the parts of parts.ts in Node 20, 22 and 24. With
 * versions or parts, only these: `npm run test:nodes -- 22 unit demo`. Fails if a part fails or runs
 * no test. The versions come from the npm package `node`.
 */
import { installNode, type InstalledNode } from './install-node.ts';
import { PARTS, type NodePart } from './parts.ts';

const VERSIONS = [20, 22, 24];

const given = process.argv.slice(2);
const isVersion = (argument: string): boolean => /^\d+$/.test(argument);
const versions = given.some(isVersion) ? given.filter(isVersion).map(Number) : VERSIONS;
const names = given.filter((argument) => !isVersion(argument));
const known = PARTS.map(({ name }) => name);
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  throw new Error(
    `Expected versions of Node and parts (${known.join(', ')}), got ${unknown.join(', ')}.`,
  );
}
const parts = PARTS.filter(({ name }) => names.length === 0 || names.includes(name));

const lines: string[] = [];
for (const version of versions) {
  const node = installNode(version);
  for (const part of parts) lines.push(await lineOf(part, node));
}
console.log(`\n${lines.join('\n')}`);

async function lineOf({ name, needs = 0, run }: NodePart, node: InstalledNode): Promise<string> {
  const title = `${node.version} ${name}`;
  if (node.major < needs) return `${title}: SKIPPED, it needs Node ${needs}`;
  console.log(`\n== ${title}`);
  const began = Date.now();
  const { passed, text } = await run(node);
  if (!passed) process.exitCode = 1;
  const seconds = Math.round((Date.now() - began) / 1_000);
  return `${title}: ${passed ? 'passed' : 'FAILED'}, ${text} (${seconds} s)`;
}
