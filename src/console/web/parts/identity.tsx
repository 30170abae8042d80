/** The identity of a worker: `15401@machine`, what it runs after it. */
import type { JSX } from 'preact';
import { Plain } from './words.tsx';

/** `worker`, its process and machine before its versions. */
export function Identity({ worker }: { readonly worker: string }): JSX.Element {
  const at = worker.indexOf('/');
  const name = at === -1 ? worker : worker.slice(0, at);
  return (
    <span title={worker}>
      <Plain text={name} />
      {at === -1 ? null : (
        <span class="faint optional">
          {' '}
          <Plain text={worker.slice(at + 1).replaceAll('/', ' ')} />
        </span>
      )}
    </span>
  );
}
