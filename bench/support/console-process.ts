/**
 * `everloop console` in a process of its own, which also counts what it asks the service. Its
 * argument is a {@link ConsolePlace} as JSON; to each message it answers with the counts.
 */
import type { ConnectionOptions } from '@temporalio/client';
import { connect } from '../../src/client/connect.ts';
import { openConsole } from '../../src/console/serve/open-console.ts';
import type { ConsoleNote, ConsolePlace } from './console-orders.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

const place = JSON.parse(process.argv[2] ?? '') as ConsolePlace;
const asked: Record<string, number> = {};
const count: Interceptor = (options, next) => {
  const name = options.method_definition.path.split('/').at(-1) ?? '';
  asked[name] = (asked[name] ?? 0) + 1;
  return next(options) as ReturnType<Interceptor>;
};
const tell = (note: ConsoleNote): void => {
  process.send?.(note);
};

const everloop = await connect({ ...place, connection: { interceptors: [count] } });
const { dataDir } = place;
const { address } = await openConsole({ everloop, dataDir, env: {}, port: 0, place });
process.on('message', () => tell({ asked: { ...asked } }));
process.once('disconnect', () => process.exit());
tell({ opened: address });
