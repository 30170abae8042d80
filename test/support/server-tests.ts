/** Which tests need the server of the run, or one of their own: the files of the project `server`. */
export const SERVER_TESTS: readonly string[] = [
  'test/e2e/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/replay/**/*.test.ts',
  'test/**/*.server.test.ts',
];

const patterns = SERVER_TESTS.map((glob) => {
  const source = glob
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:[^/]+/){0,}')
    .replaceAll(/\*/g, '[^/]*');
  return new RegExp(`^${source}$`);
});

/** Whether the file at `path`, from the root of the repository, belongs to the project `server`. */
export function isServerTest(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
