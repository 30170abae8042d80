import { unknownPatches } from '../../../worker/config/held-patches.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';

/** No variable is set whose value nothing uses. */
export const unusedVariables: DoctorCheck = {
  code: 'unused-variables',
  area: 'settings',
  find: async ({ env, config: { streamListen, streamToken, streamTls, holdPatches } }) => {
    const problems: DoctorProblem[] = [];
    const readsNowhere = (env['EVERLOOP_STREAM_URL'] ?? '').trim() === '';
    if (streamToken !== undefined && streamListen === 'off' && readsNowhere) {
      problems.push(
        unused('EVERLOOP_STREAM_TOKEN', 'no worker serves and no client reads provisional text'),
      );
    }
    if (streamTls !== undefined && typeof streamListen !== 'object') {
      problems.push(unused('EVERLOOP_STREAM_TLS', '`EVERLOOP_STREAM_LISTEN` names no interface'));
    }
    const names = unknownPatches(holdPatches);
    if (names.length > 0) {
      problems.push(unused('EVERLOOP_HOLD_PATCHES', `this release has no ${names.join(', ')}`));
    }
    return problems;
  },
};

function unused(name: string, reason: string): DoctorProblem {
  return {
    severity: 'warning',
    message: `Expected \`${name}\` to have an effect, got none: ${reason}.`,
    advice: 'Remove it, or correct what it belongs to.',
  };
}
