/** What the options of telemetry and its environment say, and what is refused. */
import { describe, expect, it } from 'vitest';
import { startInput } from '../../src/core/start/start-input.ts';
import { checkTelemetry, type TelemetryOptions } from '../../src/telemetry/options.ts';

const NONE = { hasEndpoint: false } as const;

function refusal(act: () => unknown): { readonly code: unknown; readonly message: string } {
  try {
    act();
  } catch (error) {
    const { code, message } = error as { readonly code: unknown; readonly message: string };
    return { code, message };
  }
  throw new Error('Expected a refusal.');
}

describe('telemetry', () => {
  it('is off unless somebody turns it on', () => {
    expect(checkTelemetry(undefined, NONE)).toEqual({});
    expect(checkTelemetry(undefined, { hasEndpoint: true, traces: 'off' })).toEqual({});
    expect(checkTelemetry({ traces: false, metrics: 'off' }, { hasEndpoint: true })).toEqual({});
  });

  it('is on by an option, by a variable or by an endpoint', () => {
    const traces = { content: 'off', sample: 1 };
    expect(checkTelemetry(true, NONE)).toEqual({ traces });
    expect(checkTelemetry(undefined, { hasEndpoint: true })).toEqual({ traces });
    expect(checkTelemetry({ metrics: 'otlp' }, { ...NONE, traces: 'on', content: 'full' })).toEqual(
      {
        traces: { content: 'full', sample: 1 },
        metrics: { kind: 'otlp' },
      },
    );
    expect(checkTelemetry({ metrics: '[::1]:9464' }, NONE).metrics).toEqual({
      kind: 'prometheus',
      host: '::1',
      port: 9464,
    });
  });

  it.each<{ readonly options: unknown; readonly message: string }>([
    {
      options: { metrics: '0.0.0.0:9464' },
      message:
        'Expected `metrics` on this machine alone, such as 127.0.0.1:9464, got `0.0.0.0:9464`. Set EVERLOOP_METRICS_PUBLIC=1 if others may read the names of agents, tools and models.',
    },
    {
      options: { metrics: 'here' },
      message:
        'Expected `metrics` to be off, otlp, or a host and a port such as 127.0.0.1:9464, got "here". Correct it.',
    },
    {
      options: { traces: { sample: 2 } },
      message: 'Expected `traces.sample` from 0 to 1, got 2. Change it.',
    },
    {
      options: { traces: { content: 'all' } },
      message: 'Expected `traces.content` to be one of off, events, full, got "all". Choose one.',
    },
    {
      options: { traces: 'on' },
      message:
        'Expected `traces` to be true, false or { spanProcessors?, resource?, content?, sample? }, got "on". Write it so.',
    },
  ])('refuses $options', ({ options, message }) => {
    expect(refusal(() => checkTelemetry(options as TelemetryOptions, NONE))).toEqual({
      code: 'environment',
      message,
    });
  });

  it('lets others scrape when that is said', () => {
    const { metrics } = checkTelemetry(
      { metrics: '0.0.0.0:9464' },
      { ...NONE, metricsPublic: true },
    );
    expect(metrics).toEqual({ kind: 'prometheus', host: '0.0.0.0', port: 9464 });
  });
});

describe('the trace of a start', () => {
  const start = (trace: unknown): (() => unknown) => {
    return () => startInput('clerk', { task: 'Go.', trace: trace as { readonly parent: string } });
  };

  it.each<{ readonly trace: unknown; readonly message: string }>([
    {
      trace: { parent: 'x' },
      message:
        'Expected `trace.parent` to be a traceparent such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got `x`. Leave it out.',
    },
    {
      trace: { parent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
      message: `Expected \`trace.parent\` to be a traceparent such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got \`00-${'0'.repeat(32)}-00f067aa0ba902b7-01\`. Leave it out.`,
    },
    {
      trace: { attributes: { user: { id: 7 } } },
      message:
        'Expected `trace.attributes` to be texts, finite numbers and booleans by name, got {"user":{"id":7}}. Change it.',
    },
    {
      trace: { attributes: { note: 'x'.repeat(1_000) } },
      message: 'Expected `trace` of at most 1024 bytes, got 1026. Shorten its attributes.',
    },
    {
      trace: 'on',
      message:
        'Expected `trace` to be { parent?, attributes? }, got "on". Write it so, or leave it out.',
    },
  ])('is refused if it is $trace', ({ trace, message }) => {
    expect(refusal(start(trace))).toEqual({ code: 'invalid_input', message });
  });
});
