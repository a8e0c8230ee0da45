import { expect, onTestFinished, test } from 'vitest'
import { checkLiteral, ForbiddenAddressError, guardedLookup } from '../../src/security/guarded-http-client.ts'
import { createNameResolver } from '../../src/security/name-resolver.ts'
import { startNameServer } from '../support/name-server.ts'

const PUBLIC_ONLY = { allowPrivate: false }

test('a name that does not resolve gives the error of the resolver', async () => {
  const server = await startNameServer(() => 'none')
  onTestFinished(server.stop)
  const resolver = createNameResolver({ servers: [server.address] })
  const error = await new Promise((resolve) => {
    guardedLookup(PUBLIC_ONLY, resolver)('name.invalid', {}, (failure) => resolve(failure))
  })
  expect(error).toMatchObject({ name: 'NameError', code: 'ENOTFOUND', hostname: 'name.invalid' })
})

test('of several addresses only the allowed ones are given, and the next answer is checked as well', async () => {
  const server = await startNameServer(() => ['10.0.0.1', '8.8.8.8', 'fd00::1', '2001:4860:4860::8888'])
  onTestFinished(server.stop)
  const lookUp = guardedLookup(PUBLIC_ONLY, createNameResolver({ servers: [server.address] }))
  for (let turn = 0; turn < 2; turn += 1) {
    const found = await new Promise((resolve) => {
      lookUp('mixed.example', { all: true }, (_error, addresses) => resolve(addresses))
    })
    expect(found).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2001:4860:4860::8888', family: 6 },
    ])
  }
})

test('a name of this machine is refused with its reach, and no address is given', async () => {
  const [error, address] = await new Promise<[unknown, unknown]>((resolve) => {
    guardedLookup(PUBLIC_ONLY, createNameResolver())('localhost', {}, (failure, found) =>
      resolve([failure, found]),
    )
  })
  expect(error).toBeInstanceOf(ForbiddenAddressError)
  expect(error).toMatchObject({
    name: 'ForbiddenAddressError',
    message: 'localhost is in a private network',
    reach: 'private',
  })
  expect(address).toBe('')
})

test.each([
  ['http://name.example/', true],
  ['http://[2001:4860:4860::8888]/', true],
  ['http://[::1]/', false],
  ['http://10.0.0.1/', false],
])('%s: allowed %s', (text, allowed) => {
  const check = () => checkLiteral(new URL(text), PUBLIC_ONLY)
  if (allowed) expect(check).not.toThrow()
  else expect(check).toThrow(ForbiddenAddressError)
})
