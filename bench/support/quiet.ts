/** Every benchmark process imports this first, so that the SDK's log does not mix with the figures. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
