/** What the runtime of a process refuses about metrics. */
import { createServer, type AddressInfo } from 'node:net';
import { Runtime } from '@temporalio/worker';
import { afterAll, expect, it, vi } from 'vitest';
import { checkMetricsPort, installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { passing } from '../support/passing.ts';

afterAll(() => Runtime._instance?.shutdown());

it('a port that is in use is refused before anything starts', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const checked = checkMetricsPort({ kind: 'prometheus', host: '127.0.0.1', port });
  await expect(checked).rejects.toMatchObject({
    code: 'environment',
    message: `Expected a free port for \`metrics\` at 127.0.0.1:${port}, got: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Choose another, or stop what listens there.`,
  });
  await new Promise((resolve) => {
    server.close(resolve);
  });
  await checkMetricsPort({ kind: 'prometheus', host: '127.0.0.1', port });
});

it('a collector needs an endpoint', () => {
  const install = (): void =>
    installRuntime({ logLevel: 'ERROR', metrics: { kind: 'otlp' }, env: {} });
  expect(install).toThrow(
    'Expected `OTEL_EXPORTER_OTLP_ENDPOINT` to be set for metrics `otlp`, got none. Set it to an address such as http://127.0.0.1:4318.',
  );
});

it('headers are encoded as in a URL', () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=100%',
  };
  expect(() => installRuntime({ logLevel: 'ERROR', metrics: { kind: 'otlp' }, env })).toThrow(
    'Expected `OTEL_EXPORTER_OTLP_HEADERS` to have values that are encoded as in a URL, got one with a `%` that begins no code. Write %25 for it.',
  );
});

it('an interval is a number of milliseconds', () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_METRIC_EXPORT_INTERVAL: '1 minute',
  };
  expect(() => installRuntime({ logLevel: 'ERROR', metrics: { kind: 'otlp' }, env })).toThrow(
    'Expected `OTEL_METRIC_EXPORT_INTERVAL` to be milliseconds such as 10000, got `1 minute`. Correct it.',
  );
});

it('a runtime that is installed keeps its metrics', () => {
  installRuntime({ logLevel: 'ERROR' });
  const metrics = { kind: 'prometheus', host: '127.0.0.1', port: 9464 } as const;
  expect(() => installRuntime({ logLevel: 'ERROR', metrics })).toThrow(
    'Expected to install the runtime for `metrics`, got one that is installed. Set its telemetry options yourself.',
  );
  expect(() => installRuntime({ logLevel: 'ERROR' })).not.toThrow();
});

it('further workers of a process add to what its log hides', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const hide = (text: string): string => text.replaceAll('4242', '[redacted]');
  const logged = async (): Promise<string> => {
    written.mockClear();
    Runtime.instance().logger.error('Workflow failed', { error: new Error('card 4242') });
    // The runtime collects lines before it writes them.
    return passing(() => {
      const lines = written.mock.calls.map(([line]) => String(line)).join('');
      expect(lines).toContain('Workflow failed');
      return lines;
    });
  };
  try {
    installRuntime({ logLevel: 'ERROR' });
    expect(await logged()).toContain('card 4242');
    installRuntime({ logLevel: 'ERROR', hide });
    expect(await logged()).toContain('card [redacted]');
    installRuntime({ logLevel: 'ERROR', hidesFailures: true });
    expect(await logged()).not.toContain('card');
  } finally {
    written.mockRestore();
  }
});
