import { describe, expect, it } from 'vitest';
import { garbageSettings, serverArguments } from '../../src/worker/server/server-process.ts';

describe('serverArguments', () => {
  const options = {
    program: 'temporal',
    host: '127.0.0.1',
    port: 7233,
    namespace: 'default',
    databaseFile: '/data/temporal.db',
    logFile: '/data/logs/temporal-server.log',
    stateFile: '/data/server.json',
    readyWithinMs: 60_000,
  };

  it('stays on the loopback, keeps a write-ahead log and sets what development needs', () => {
    expect(serverArguments(options).join(' ')).toBe(
      'server start-dev --ip 127.0.0.1 --port 7233 --namespace default --log-level warn ' +
        '--db-filename /data/temporal.db --headless ' +
        '--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=NORMAL ' +
        '--dynamic-config-value history.transferProcessorMaxPollRPS=2000 ' +
        '--dynamic-config-value history.maxInFlightUpdates=1000 ' +
        '--dynamic-config-value system.enableActivityEagerExecution=true ' +
        '--dynamic-config-value matching.useNewMatcher=true ' +
        '--dynamic-config-value matching.enableFairness=true ' +
        '--dynamic-config-value matching.numTaskqueueWritePartitions=1 ' +
        '--dynamic-config-value frontend.enableServerVersionCheck=false',
    );
  });

  it('takes a UI port, further settings and search attributes', () => {
    const args = serverArguments({
      ...options,
      uiPort: 8233,
      dynamicConfig: {
        'history.transferProcessorMaxPollRPS': 20,
        'limit.blobSize.error': 4096,
        'history.maxInFlightUpdates': null,
      },
      searchAttributes: { EverloopAgent: 'Keyword' },
    }).join(' ');

    expect(args).toContain('--ui-port 8233');
    expect(args).not.toContain('--ui-codec-endpoint');
    const codec = { uiPort: 8233, uiCodecEndpoint: 'http://127.0.0.1:7246' };
    expect(serverArguments({ ...options, ...codec }).join(' ')).toContain(
      '--ui-codec-endpoint http://127.0.0.1:7246',
    );
    expect(args).not.toContain('--headless');
    expect(args).toContain('history.transferProcessorMaxPollRPS=20 ');
    expect(args).not.toContain('history.transferProcessorMaxPollRPS=2000');
    expect(args).toContain('--dynamic-config-value limit.blobSize.error=4096');
    expect(args).not.toContain('maxInFlightUpdates');
    expect(args).toContain('--search-attribute EverloopAgent=Keyword');
  });

  it('serves its metrics only when a port is given', () => {
    expect(serverArguments({ ...options, metricsPort: 9090 }).join(' ')).toContain(
      '--headless --metrics-port 9090 ',
    );
    expect(serverArguments(options)).not.toContain('--metrics-port');
  });
});

it.each([
  { gib: 1, limit: '512MiB' },
  { gib: 4, limit: '1024MiB' },
  { gib: 64, limit: '2048MiB' },
])('the server of a machine with $gib GiB collects garbage seldom, up to $limit', (scene) => {
  expect(garbageSettings(scene.gib * 2 ** 30)).toEqual({ GOGC: '400', GOMEMLIMIT: scene.limit });
});
