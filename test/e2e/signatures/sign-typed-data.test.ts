import { recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES } from '../../support/service.ts'
import { startStellarScenario } from '../../support/stellar-scenario.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
})
afterAll(() => story.stop())

const PATH = '/relayers/main/sign-typed-data'
const sign = (body: object | string, path = PATH) =>
  story.service.api<Schemas['Signature']>('POST', path, body)

const PERMIT = {
  domain: { name: 'Token', version: '1', chainId: 31337, verifyingContract: `0x${'11'.repeat(20)}` },
  types: {
    Permit: [
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  message: {
    spender: DEV_ADDRESSES[1],
    value: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  },
} as const

const HASHES = { domain_separator: 'ab'.repeat(32), hash_struct_message: `0x${'CD'.repeat(32)}` }

describe('POST …/sign-typed-data', () => {
  test('a document is signed by the account, as a smart contract would verify it', async () => {
    const { status, body } = await sign(PERMIT)
    expect(status).toBe(200)
    const { r, s, v, sig } = body.data
    expect(sig).toBe(`${r}${s}${v.toString(16)}`)
    const address = await recoverTypedDataAddress({
      ...PERMIT,
      message: { ...PERMIT.message, value: 2n ** 256n - 1n },
      signature: `0x${sig}`,
    })
    expect(address).toBe(DEV_ADDRESSES[0])
  })

  test.each(['HyperliquidTransaction:UsdSend', 'My$Type'])('a type may be called %s', async (name) => {
    const types = { [name]: [...PERMIT.types.Permit, { name: 'more', type: `${name}[]` }] }
    const message = { ...PERMIT.message, more: [] }
    const { status, body } = await sign({ ...PERMIT, types, primaryType: name, message })
    expect(status).toBe(200)
    const address = await recoverTypedDataAddress({
      domain: PERMIT.domain,
      types,
      primaryType: name,
      message: { ...message, value: 2n ** 256n - 1n },
      signature: `0x${body.data.sig}`,
    })
    expect(address).toBe(DEV_ADDRESSES[0])
  })

  test('an integer beyond 2^53 loses no digit on its way in', async () => {
    const exact = JSON.stringify(PERMIT).replace(/"value":"\d+"/, '"value":9007199254740993')
    const text = { ...PERMIT, message: { ...PERMIT.message, value: '9007199254740993' } }
    expect((await sign(exact)).body.data).toEqual((await sign(text)).body.data)
  })

  test('hashes are accepted with and without 0x, in any letter case', async () => {
    const one = await sign(HASHES)
    const other = await sign({
      domain_separator: `0x${HASHES.domain_separator.toUpperCase()}`,
      hash_struct_message: 'cd'.repeat(32),
    })
    expect(one.status).toBe(200)
    expect(other.body.data).toEqual(one.body.data)
  })

  test.each<[string, object, string]>([
    ['a hash that is too short', { ...HASHES, domain_separator: 'ab'.repeat(31) }, 'body.domain_separator'],
    [
      'a hash that is too long',
      { ...HASHES, hash_struct_message: 'ab'.repeat(33) },
      'body.hash_struct_message',
    ],
    ['a hash that is no hex', { ...HASHES, domain_separator: 'xy'.repeat(32) }, 'body.domain_separator'],
    ['one hash alone', { domain_separator: HASHES.domain_separator }, 'body.hash_struct_message'],
    ['a number', { ...HASHES, domain_separator: 1 }, 'body.domain_separator'],
    ['both at once', { ...HASHES, ...PERMIT }, 'body.'],
    ['nothing', {}, 'body.'],
    [
      'a value that is not of its type',
      { ...PERMIT, message: { ...PERMIT.message, value: -1 } },
      'body.message.value',
    ],
    ['a missing value', { ...PERMIT, message: { value: 1 } }, 'body.message.spender'],
    ['a primary type that is none', { ...PERMIT, primaryType: 'Letter' }, 'body.primaryType'],
    [
      'a type without a name',
      { ...PERMIT, types: { Permit: [{ type: 'bool' }] } },
      'body.types.Permit[0].name',
    ],
    ['types that are no lists', { ...PERMIT, types: { Permit: 'bool' } }, 'body.types.Permit'],
    [
      'a type with a space',
      { ...PERMIT, types: { ...PERMIT.types, 'My Type': [] } },
      'body.types.My Type: expected the name of a struct, of letters, digits, _, $ and colons',
    ],
    [
      'a type with a long name',
      { ...PERMIT, types: { ...PERMIT.types, ['x'.repeat(65)]: [] } },
      `body.types.${'x'.repeat(65)}: expected at most 64 characters`,
    ],
  ])('%s is a 400 that names the field', async (_name, body, field) => {
    const answer = await sign(body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 400,
      code: 'invalid_request',
    })
    expect(answer.body.error).toContain(field)
  })

  test('an unknown relayer is Not found', async () => {
    expect((await sign(HASHES, '/relayers/nobody/sign-typed-data')).body.code).toBe('relayer_not_found')
  })
})

test('a relayer on a network without typed data is refused', async () => {
  const stellar = await startStellarScenario()
  try {
    const { status, body } = await stellar.service.api('POST', PATH, HASHES)
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'not_supported' })
  } finally {
    await stellar.stop()
  }
})
