/** Skips all tests of a project in versions of Node that the packages of the AI SDK 7 do not support. */
import { beforeEach } from 'vitest';

const NEEDED = 22;
const major = Number.parseInt(process.versions.node, 10);

beforeEach(({ skip }) => {
  skip(major < NEEDED, `the AI SDK 7 needs Node ${NEEDED}, this is ${process.version}`);
});
