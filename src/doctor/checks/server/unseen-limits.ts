import type { DoctorCheck } from '../check.ts';

/** Says which limits that matter the service tells no client. */
export const unseenLimits: DoctorCheck = {
  code: 'unseen-limits',
  area: 'server',
  find: async ({ service, isOwnServer }) => {
    // Everloop has given this server its limits.
    if (service === null || isOwnServer) return [];
    return [
      {
        severity: 'information',
        message:
          'Expected to read the limits `history.MaxBufferedQueryCount`, `limit.historyCount.suggestContinueAsNew` and `limit.historySize.suggestContinueAsNew`, got nothing: the service tells them to no client.',
        advice:
          'On a server of your own, set the first to 1000, because with 1 a second query during a workflow task waits a second, and leave the others at 4096 and 4 MB.',
      },
    ];
  },
};
