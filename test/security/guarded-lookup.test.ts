import { expect, test } from 'vitest'
import { checkLiteral, ForbiddenAddressError, guardedLookup } from '../../src/security/guarded-lookup.ts'

const PUBLIC_ONLY = { allowPrivate: false }

test('a name that does not resolve gives the error of the resolver', async () => {
  const error = await new Promise((resolve) => {
    guardedLookup(PUBLIC_ONLY)('name.invalid', {}, (failure) => resolve(failure))
  })
  expect(error).toMatchObject({ syscall: 'getaddrinfo' })
})

test('a name of this machine is refused with its reach, and no address is given', async () => {
  const [error, address] = await new Promise<[unknown, unknown]>((resolve) => {
    guardedLookup(PUBLIC_ONLY)('localhost', {}, (failure, found) => resolve([failure, found]))
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
