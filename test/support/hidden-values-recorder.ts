/** Runs in each process of tests, before them: its servers' requests are kept. */
import { recordRequests, REQUESTS_FOLDER } from './hidden-values.ts';

const folder = process.env[REQUESTS_FOLDER];
if (folder !== undefined) recordRequests(folder);
