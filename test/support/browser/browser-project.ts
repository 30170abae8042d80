/** A project of tests that need a browser: skipped as a whole where there is none. */
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { findBrowser } from './find-browser.ts';

/** Fits no name, so each test of a project is skipped, with the hooks around it. */
const NO_TEST = /(?!)/;

/**
 * The project `name`. Without a browser its name says why it is skipped, and the end of the run says
 * what to do. `--project` takes `name` in any case.
 */
export function browserProject(
  name: string,
  options: NonNullable<TestProjectInlineConfiguration['test']>,
): TestProjectInlineConfiguration {
  const test = { ...options, name };
  if (findBrowser() !== null) return { test };
  return {
    plugins: [
      {
        name: 'everloop:no-browser',
        configureVitest: ({ project }) => {
          project.config.name = `${name} (skipped: no browser; npm run get:chromium)`;
          project.config.testNamePattern = NO_TEST;
        },
      },
    ],
    // No server is started for tests that do not run.
    test: { ...test, globalSetup: 'test/support/browser/no-browser-setup.ts' },
  };
}
