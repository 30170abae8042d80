/** The sides of the comparison: what each is, what it needs, and where it keeps what it stores. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseBytes } from './services/postgres.ts';
import { bytesBelow } from './services/service.ts';
import type { Places } from './side.ts';

/** One side. */
export interface SideInfo {
  readonly name: string;
  /** File in `sides/`. */
  readonly file: string;
  readonly needs?: 'temporal' | 'postgres' | 'restate';
  readonly variant?: string;
  /** Whether the main process has to say which runs to go on with. */
  readonly isResumed?: boolean;
  /** Whether it has tools that are begun at most once; runs whose id begins with `once` use one. */
  readonly hasOnce?: boolean;
  /** Bytes of its service's data; `places` has the folder of the side and the one of the services. */
  readonly storedBytes: (places: Places, services: string) => number | Promise<number>;
}

const temporalBytes: SideInfo['storedBytes'] = (_places, services) =>
  ['', '-wal'].reduce((sum, end) => sum + fileBytes(join(services, 'temporal.db' + end)), 0);

function fileBytes(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** In the order in which they alternate. */
export const SIDES: readonly SideInfo[] = [
  {
    name: 'Everloop',
    file: 'everloop.ts',
    needs: 'temporal',
    hasOnce: true,
    storedBytes: async (places, services) =>
      (await temporalBytes(places, services)) + bytesBelow(places.folder),
  },
  {
    name: 'Temporal, bare',
    file: 'bare-temporal.ts',
    needs: 'temporal',
    storedBytes: temporalBytes,
  },
  {
    name: '@temporalio/ai-sdk',
    file: 'temporal-ai-sdk.ts',
    needs: 'temporal',
    storedBytes: temporalBytes,
  },
  {
    name: 'Restate',
    file: 'restate.ts',
    needs: 'restate',
    storedBytes: (_places, services) => bytesBelow(join(services, 'restate')),
  },
  {
    name: 'DBOS',
    file: 'dbos.ts',
    needs: 'postgres',
    storedBytes: ({ postgres = '' }) => databaseBytes(postgres, 'dbos'),
  },
  {
    name: 'LangGraph',
    file: 'langgraph.ts',
    needs: 'postgres',
    isResumed: true,
    storedBytes: ({ postgres = '' }) => databaseBytes(postgres, 'langgraph'),
  },
  {
    name: 'LangGraph, delta',
    file: 'langgraph.ts',
    needs: 'postgres',
    variant: 'delta',
    isResumed: true,
    storedBytes: ({ postgres = '' }) => databaseBytes(postgres, 'langgraph_delta'),
  },
  {
    name: 'Mastra',
    file: 'mastra.ts',
    isResumed: true,
    storedBytes: ({ folder }) => bytesBelow(folder),
  },
];
