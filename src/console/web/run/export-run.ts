/** Saves a run as a file; the token travels in a header, so a plain link cannot. */
import { say } from '../base/actions.ts';
import { BASE, runPath } from '../base/api.ts';
import { meta } from '../base/connection.ts';
import { token } from '../base/session.ts';

/** Saves what `kind` names of run `id`: `run` for people, `history` for a replay. */
export async function exportRun(id: string, kind: 'run' | 'history'): Promise<void> {
  const key = token();
  const response = await fetch(`${BASE}/api/v1${runPath(id, `/export?kind=${kind}`)}`, {
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  }).catch(() => null);
  if (response === null || !response.ok) {
    say(meta.value === null ? 'The console does not answer.' : 'The run could not be exported.');
    return;
  }
  const name = id.replaceAll(/[^\w.-]+/g, '_');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = kind === 'run' ? `${name}.json` : `${name}.history.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
