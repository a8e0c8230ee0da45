import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLogger, maskUrls } from '../../src/log.ts'
import { maskUrl, maskUrlInLog } from '../../src/networks/network.ts'

/** What a log line contains. */
function sourceAccountOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines = new PassThrough()
  write(createLogger({ level: 'info' }, lines))
  return String(lines.read())
}

describe('a log line', () => {
  test.each<[string, object]>([
    ['an authorization header', { req: { headers: { authorization: 'Bearer HIDE' } } }],
    ['an API key', { apiKey: 'HIDE' }],
    ['keys one level down', { config: { apiKeys: ['HIDE'] } }],
    ['a passphrase', { signer: { passphrase: 'HIDE' } }],
    ['a signing key as the wire spells it', { notification: { signing_key: 'HIDE' } }],
    ['the url of an error', { err: new Error('POST https://user:HIDE@rpc.example/v3/HIDE?key=HIDE failed') }],
    ['a cause', { err: new Error('outer', { cause: new Error('postgres://u:HIDE@db.example/x') }) }],
    ['what clients hang on errors', { err: Object.assign(new Error('x'), { config: { headers: 'HIDE' } }) }],
  ])('does not contain %s', (_what, fields) => {
    const line = sourceAccountOf((log) => log.info(fields, 'message'))
    expect(line).toContain('"msg":"message"')
    expect(line).not.toContain('HIDE')
  })

  test('keeps what helps: code, message, host', () => {
    const err = Object.assign(new Error('GET https://rpc.example/v3/k failed'), { code: 'ECONNRESET' })
    const line = JSON.parse(sourceAccountOf((log) => log.error({ err }, 'call failed')))
    expect(line).toMatchObject({
      level: 'error',
      msg: 'call failed',
      err: { type: 'Error', code: 'ECONNRESET', message: 'GET https://rpc.example/*** failed' },
    })
  })
})

test.each([
  ['https://user:pass@rpc.example:8443/v3/key?x=y', 'https://rpc.example:8443/***'],
  ['http://127.0.0.1:8545', 'http://127.0.0.1:8545/***'],
  ['no url', '***'],
])('maskUrl shows of %s only the host', (url, shown) => {
  expect(maskUrl(url)).toBe(shown)
})

test.each([
  ['https://user:pass@rpc.example:8443', 'https://rpc.example:8443/***'],
  ['https://rpc.example/v3/key', 'https://rpc.example/***'],
  ['https://rpc.example?key=k', 'https://rpc.example/***'],
  ['https://rpc.example/#k', 'https://rpc.example/***'],
  ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
  ['HTTP://rpc.example/', 'http://rpc.example'],
  ['no url', '***'],
])('maskUrlInLog shows %s as %s, because a url without a path hides nothing', (url, shown) => {
  expect(maskUrlInLog(url)).toBe(shown)
})

test.each([
  [
    'at wss://a.example/key, then "https://b.example?k=v"',
    'at wss://a.example/*** then "https://b.example/***"',
  ],
  ['postgres://u:p%40ss@db:5432/x', 'postgres://db:5432/***'],
  ['HTTPS://rpc.example/key failed', 'HTTPS://rpc.example/*** failed'],
  ['http://127.0.0.1:8545: timed out', 'http://127.0.0.1:8545: timed out'],
  ['from http://127.0.0.1:8545/, twice', 'from http://127.0.0.1:8545/, twice'],
  ['https://user@rpc.example', 'https://rpc.example/***'],
  ['nothing to hide', 'nothing to hide'],
])('maskUrls turns %s into %s', (text, masked) => {
  expect(maskUrls(text)).toBe(masked)
})
