import { describe, expect, test } from 'vitest'
import { untrustedRpcUrlProblem } from '../../src/networks/read-urls.ts'
import { untrustedUrlProblem } from '../../src/security/guarded-http-client.ts'

const CAREFUL = { allowPrivate: false }

describe('givenUrlProblem', () => {
  test.each(['https://hooks.example.com/a?b=c', 'http://1.1.1.1:8080/', 'http://name.that.leads.nowhere/'])(
    '%s is taken',
    (url) => expect(untrustedUrlProblem(url, CAREFUL)).toBeUndefined(),
  )

  test.each([
    '',
    'example.com',
    'ftp://example.com/',
    'ws://example.com/',
    'file:///etc/passwd',
    'http://',
    ' http://a.b/',
    'http://a.b/\u0000',
  ])('%j is no http url', (url) =>
    expect(untrustedUrlProblem(url, CAREFUL)).toBe('expected an http:// or https:// url'),
  )

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://2130706433/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://①②⑦.0.0.1/',
    'https://user:word@10.0.0.7/rpc',
  ])('%s is an address of a private network', (url) => {
    expect(untrustedUrlProblem(url, CAREFUL)).toMatch(
      /^expected a url that may be reached; .* private network, which RELAYER_ALLOW_PRIVATE_URLS would allow$/,
    )
    expect(untrustedUrlProblem(url, { allowPrivate: true })).toBeUndefined()
  })

  test.each(['http://169.254.169.254/', 'http://0xa9fea9fe/', 'http://[fd00:ec2::254]/', 'http://0/'])(
    '%s is never allowed',
    (url) => expect(untrustedUrlProblem(url, { allowPrivate: true })).toMatch(/never allowed$/),
  )
})

test('an RPC url is accepted whole, not in its masked form', () => {
  expect(untrustedRpcUrlProblem('https://rpc.example.com/***', CAREFUL)).toMatch(/^expected the whole url/)
  expect(untrustedRpcUrlProblem('***', CAREFUL)).toMatch(/^expected the whole url/)
  expect(untrustedRpcUrlProblem('https://rpc.example.com/v2/key', CAREFUL)).toBeUndefined()
  expect(untrustedRpcUrlProblem('http://10.0.0.1/', CAREFUL)).toMatch(/private network/)
})
