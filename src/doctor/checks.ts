/** All checks, in the order in which they run. */
import type { DoctorCheck } from './checks/check.ts';
import { bundleCache } from './checks/bundle-cache.ts';
import { copies } from './checks/copies.ts';
import { elsewhere } from './checks/elsewhere.ts';
import { equalAgents } from './checks/equal-agents.ts';
import { equalVersions } from './checks/equal-versions.ts';
import { failingTasks } from './checks/failing-tasks.ts';
import { grace } from './checks/grace.ts';
import { historySize } from './checks/history-size.ts';
import { ignoredFolder } from './checks/ignored-folder.ts';
import { libc } from './checks/libc.ts';
import { mixedVersioning } from './checks/mixed-versioning.ts';
import { reachable } from './checks/reachable.ts';
import { retention } from './checks/retention.ts';
import { variables } from './checks/unknown-variables.ts';
import { versions } from './checks/versions.ts';
import { waitingTasks } from './checks/waiting-tasks.ts';
import { workers } from './checks/workers.ts';

/** Of server, fleet, runs, settings and packages. */
export const CHECKS: readonly DoctorCheck[] = [
  reachable,
  retention,
  workers,
  equalVersions,
  equalAgents,
  versions,
  mixedVersioning,
  failingTasks,
  waitingTasks,
  elsewhere,
  historySize,
  grace,
  variables,
  copies,
  libc,
  bundleCache,
  ignoredFolder,
];
