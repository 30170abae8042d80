import { describe, expect, test } from 'vitest';
import { redact } from '../../../src/core/text/redact.ts';
import { utf8Length } from '../../../src/core/base/json.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';

describe('redact', () => {
  const secrets: { name: string; text: string; clean: string }[] = [
    {
      name: 'the query of a URL',
      text: 'POST https://a.example/v1/chat?key=AIzaSyA&alt=sse failed',
      clean: 'POST https://a.example/v1/chat?[redacted] failed',
    },
    {
      name: 'user and fragment of a URL',
      text: 'at "https://me:pw@a.example/v1#access_token=abc".',
      clean: 'at "https://[redacted]@a.example/v1?[redacted]".',
    },
    {
      name: 'keys of OpenAI, masked too',
      text: 'Incorrect API key provided: sk-proj-abc***wxyz. See https://a.example/keys.',
      clean: 'Incorrect API key provided: [redacted] See https://a.example/keys.',
    },
    {
      name: 'a key in the middle of a sentence',
      text: 'The key sk-ant-api03-AbCdEf_123 is not valid',
      clean: 'The key [redacted] is not valid',
    },
    { name: 'keys of Google', text: 'key AIzaSyD-1234567890abcdef', clean: 'key [redacted]' },
    { name: 'keys of AWS', text: 'for AKIAIOSFODNN7EXAMPLE', clean: 'for [redacted]' },
    {
      name: 'authorization in a header',
      text: 'Authorization: Bearer abc.def-ghi, Accept: */*',
      clean: 'Authorization: [redacted], Accept: */*',
    },
    { name: 'a bearer alone', text: 'sent Bearer abcdef123', clean: 'sent Bearer [redacted]' },
    {
      name: 'values of keys in JSON',
      text: '{"x-api-key":"abcd1234","password": "hunter22","model":"m"}',
      clean: '{"x-api-key":[redacted]","password": [redacted]","model":"m"}',
    },
    {
      name: 'a JSON web token',
      text: 'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end',
      clean: 'jwt [redacted] end',
    },
    {
      name: 'a key of 32 hexadecimal digits [R16]',
      text: 'Access denied due to invalid subscription key 0123456789abcdef0123456789ABCDEF.',
      clean: 'Access denied due to invalid subscription key [redacted].',
    },
    {
      name: 'a key of 32 hexadecimal digits in quotes [R16]',
      text: 'the apiKey is "0123456789abcdef0123456789abcdef" here',
      clean: 'the apiKey is "[redacted]" here',
    },
    {
      name: 'pass: [R16]',
      text: 'user: bob pass: hunter2 ok',
      clean: 'user: bob pass: [redacted] ok',
    },
    {
      name: 'pwd= [R16]',
      text: 'Server=db;Uid=me;Pwd=hunter2;',
      clean: 'Server=db;Uid=me;Pwd=[redacted];',
    },
    {
      name: 'a password of mysql [R16]',
      text: 'mysqldump -u root -phunter shop failed',
      clean: 'mysqldump -u root -p[redacted] shop failed',
    },
    {
      name: '-pSECRET [R16]',
      text: 'Command failed: db -pSECRET x',
      clean: 'Command failed: db -p[redacted] x',
    },
    {
      name: 'AccountKey= [R16]',
      text: 'AccountName=shop;AccountKey=abc/def+ghi==;EndpointSuffix=core',
      clean: 'AccountName=shop;AccountKey=[redacted];EndpointSuffix=core',
    },
    {
      name: 'PGPASSWORD= [R16]',
      text: 'PGPASSWORD=hunter2 psql -h db: exit 1',
      clean: 'PGPASSWORD=[redacted] psql -h db: exit 1',
    },
    {
      name: 'a long run of hexadecimal',
      text: `id ${'0a1b2c3d'.repeat(6)} end`,
      clean: 'id [redacted] end',
    },
  ];

  test.each(secrets)('removes $name', ({ text, clean }) => {
    expect(redact(text)).toBe(clean);
  });

  const harmless = [
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 208310 tokens > 200000 maximum',
    'input tokens: 200000, limit 100000',
    'No such model: gpt-5-turbo-preview-2026-01-01.',
    'See https://platform.example/account/api-keys.',
    'docker run -p8080:80 -p 443:443 -path /tmp failed',
    'commit 0123456789abcdef0123456789abcdef is missing',
    'the keyboard has 105 keys, the pass is closed',
    '',
  ];

  test.each(harmless)('leaves alone: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('cuts at 2,000 bytes, behind a whole character', () => {
    const short = redact('é '.repeat(5_000));

    expect(short.endsWith('…')).toBe(true);
    expect(utf8Length(short)).toBeLessThanOrEqual(2_000);
    expect(utf8Length(short)).toBeGreaterThan(1_990);
  });

  test('takes at most milliseconds for a megabyte of anything', () => {
    const bodies = ['a', 'https://', 'token: ', 'sk-', 'a/b=', '?'].map((text) =>
      text.repeat(1_000_000 / text.length),
    );

    const ms = cpuMsOf(() => {
      for (const body of bodies) redact(body);
    });

    expect(ms).toBeLessThan(1_000);
  });
});
