/** All checks, in the order in which they run. */
import type { DoctorCheck } from './checks/check.ts';
import { equalAgents } from './checks/fleet/equal-agents.ts';
import { equalNodes } from './checks/fleet/equal-nodes.ts';
import { equalSdks } from './checks/fleet/equal-sdks.ts';
import { equalVersions } from './checks/fleet/equal-versions.ts';
import { mixedVersioning } from './checks/fleet/mixed-versioning.ts';
import { versionRoles } from './checks/fleet/version-roles.ts';
import { versions } from './checks/fleet/versions.ts';
import { workers } from './checks/fleet/workers.ts';
import { bundleCache } from './checks/packages/bundle-cache.ts';
import { copies } from './checks/packages/copies.ts';
import { ignoredFolder } from './checks/packages/ignored-folder.ts';
import { libc } from './checks/packages/libc.ts';
import { temporalPackages } from './checks/packages/temporal-packages.ts';
import { elsewhere } from './checks/runs/elsewhere.ts';
import { failingTasks } from './checks/runs/failing-tasks.ts';
import { fullInboxes } from './checks/runs/full-inboxes.ts';
import { historySize } from './checks/runs/history-size.ts';
import { lateHandovers } from './checks/runs/late-handovers.ts';
import { lateQuestions } from './checks/runs/late-questions.ts';
import { waitingTasks } from './checks/runs/waiting-tasks.ts';
import { clock } from './checks/server/clock.ts';
import { lateSuggestions } from './checks/server/late-suggestions.ts';
import { reachable } from './checks/server/reachable.ts';
import { retention } from './checks/server/retention.ts';
import { searchAttributes } from './checks/server/search-attributes.ts';
import { unseenLimits } from './checks/server/unseen-limits.ts';
import { archiveFolder } from './checks/settings/archive-folder.ts';
import { grace } from './checks/settings/grace.ts';
import { locale } from './checks/settings/locale.ts';
import { modelKeys } from './checks/settings/model-keys.ts';
import { streamEndpoint } from './checks/settings/stream-endpoint.ts';
import { timeZone } from './checks/settings/time-zone.ts';
import { variables } from './checks/settings/unknown-variables.ts';
import { unusedVariables } from './checks/settings/unused-variables.ts';

/** Of server, fleet, runs, settings and packages. */
export const CHECKS: readonly DoctorCheck[] = [
  reachable,
  retention,
  clock,
  unseenLimits,
  lateSuggestions,
  searchAttributes,
  workers,
  equalVersions,
  equalSdks,
  equalNodes,
  equalAgents,
  versions,
  versionRoles,
  mixedVersioning,
  failingTasks,
  waitingTasks,
  elsewhere,
  historySize,
  lateHandovers,
  lateQuestions,
  fullInboxes,
  grace,
  variables,
  unusedVariables,
  timeZone,
  locale,
  archiveFolder,
  streamEndpoint,
  modelKeys,
  copies,
  temporalPackages,
  libc,
  bundleCache,
  ignoredFolder,
];
