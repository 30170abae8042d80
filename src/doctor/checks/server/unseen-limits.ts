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
          'On a server of your own, leave the first at 1: with more, queries that are open at the end of a run delay other runs. Leave the others at 4096 and 4 MB.',
      },
    ];
  },
};
