/** Silences the log of the SDK. Every process of a benchmark imports it first. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
