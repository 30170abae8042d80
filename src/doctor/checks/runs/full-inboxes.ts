import type { DoctorCheck, DoctorProblem } from '../check.ts';

const MAX_UNREAD = 100;

/** No run has more than a hundred inputs that it has not read. */
export const fullInboxes: DoctorCheck = {
  code: 'full-inboxes',
  area: 'runs',
  find: async ({ service }) => {
    const answers = await service?.answers();
    return [...(answers ?? [])]
      .filter(([, { unreadInputs }]) => unreadInputs > MAX_UNREAD)
      .map(([id, { unreadInputs }]): DoctorProblem => ({
        severity: 'warning',
        message: `Expected \`${id}\` to have at most ${MAX_UNREAD} unread inputs, got ${unreadInputs}. A run refuses those beyond 1,000.`,
        advice: 'Send less, or `everloop show RUN` to see why it does not read.',
      }));
  },
};
