/** Imported first by every process of a benchmark: the log of the SDK would stand between figures. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
