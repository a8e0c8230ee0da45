import { checksumAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

const CHAIN_ID = 31337
/** The last letter has the other case. */
const MISTYPED = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293Bc'
const EXPECTED = 'an address in one letter case, or with the right checksum (EIP-55), is expected'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
  const policies = { wallet_rpc: true, allow_authorization_list: true }
  await story.service.api('PATCH', '/relayers/main', { policies })
})
afterAll(() => story.stop())

const MAIN = '/relayers/main'
const pay = (change: object = {}) => ({ to: RECEIVER, value: 1, speed: 'fast', ...change })
const call = { function: 'transfer(address,uint256)', args: [MISTYPED, 1] }
const approval = { function: 'approve((address who)[])', args: [[{ who: MISTYPED }]] }
const permit = {
  domain: { name: 'Shop', chainId: CHAIN_ID },
  types: { Permit: [{ name: 'spender', type: 'address' }] },
  primaryType: 'Permit',
  message: { spender: MISTYPED },
}
const unsigned = { to: MISTYPED, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 }
const AUTHORIZATION = {
  chain_id: 0,
  nonce: 0,
  y_parity: 0,
  r: `0x${'01'.repeat(32)}`,
  s: `0x${'01'.repeat(32)}`,
}

/** What is asked, with the field that the refusal names. */
const REQUESTS: [what: string, method: string, path: string, body: object, field: string][] = [
  ['a transaction', 'POST', `${MAIN}/transactions`, pay({ to: MISTYPED }), 'to'],
  ['a dry run', 'POST', `${MAIN}/transactions?dry_run=true`, pay({ to: MISTYPED }), 'to'],
  [
    'a call by name of a contract',
    'POST',
    `${MAIN}/transactions`,
    pay({ to: MISTYPED, call: { function: 'pause' } }),
    'body.to',
  ],
  ['an argument of a call', 'POST', `${MAIN}/transactions`, pay({ call }), 'body.call.args[0]'],
  [
    'an argument inside of another',
    'POST',
    `${MAIN}/transactions`,
    pay({ call: approval }),
    'body.call.args[0][0].who',
  ],
  [
    'an item of a batch',
    'POST',
    `${MAIN}/transactions/batch`,
    { transactions: [pay(), pay({ to: MISTYPED })] },
    'transactions[1].to',
  ],
  [
    'an access list',
    'POST',
    `${MAIN}/transactions`,
    pay({ access_list: [{ address: MISTYPED, storage_keys: [] }] }),
    'access_list[0].address',
  ],
  [
    'an authorization list',
    'POST',
    `${MAIN}/transactions`,
    pay({ authorization_list: [{ address: MISTYPED, ...AUTHORIZATION }] }),
    'authorization_list[0].address',
  ],
  ['a transaction to sign', 'POST', `${MAIN}/sign-transaction`, unsigned, 'body.to'],
  ['typed data', 'POST', `${MAIN}/sign-typed-data`, permit, 'body.message.spender'],
  [
    'an ABI',
    'PUT',
    `${MAIN}/abis/${MISTYPED}`,
    { abi: [{ type: 'function', name: 'pause', inputs: [] }] },
    'path.address',
  ],
  [
    'receivers of a relayer',
    'PATCH',
    MAIN,
    { policies: { whitelist_receivers: [RECEIVER, MISTYPED] } },
    'whitelist_receivers[1]',
  ],
  [
    'rules of a relayer',
    'PATCH',
    MAIN,
    { policies: { rules: { receivers: [MISTYPED] } } },
    'rules.receivers[0]',
  ],
  ['rules of a key', 'POST', '/api-keys', keyWith({ contracts: [MISTYPED] }), 'body.rules.contracts[0]'],
  [
    'a limit of a key',
    'POST',
    '/api-keys',
    keyWith({ limits: [{ per: 'day', asset: MISTYPED, value: 1 }] }),
    'body.rules.limits[0].asset',
  ],
]

function keyWith(rules: object): object {
  return { name: 'Narrow', scopes: ['relayers:read'], rules }
}

describe('an address with letters of both cases that fit no checksum', () => {
  test.each(REQUESTS)(
    'is refused in %s, and the field is named',
    async (_what, method, path, body, field) => {
      const { status, body: answer } = await story.service.api(method, path, body)
      expect([status, answer.code]).toEqual([400, 'invalid_request'])
      expect(answer.error).toContain(field)
      expect(answer.error).toMatch(/EIP-55/)
    },
  )

  test('is refused in a replacement, and the transaction stays as it was', async () => {
    const { id } = await story.send(pay())
    await story.reach(id, 'submitted')
    const replaced = await story.replace(id, pay({ to: MISTYPED, speed: 'fastest' }))
    expect(replaced).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(replaced.body.error).toBe(
      `to: ${EXPECTED}; ${MISTYPED} has letters of both cases that do not fit it, as after a typing error.`,
    )
    expect(await story.get(id)).toMatchObject({ to: RECEIVER })
    await story.settle()
  })

  test('is refused by the wallet endpoint', async () => {
    const params = [{ to: MISTYPED, value: '0x1' }]
    const { body } = await story.service.api<unknown>('POST', `${MAIN}/rpc`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendTransaction',
      params,
    })
    expect(JSON.stringify(body)).toContain(`to: ${EXPECTED}`)
  })
})

describe('an address', () => {
  test.each([
    ['in small letters', RECEIVER.toLowerCase()],
    ['in capital letters', `0x${RECEIVER.slice(2).toUpperCase()}`],
    ['with the checksum of EIP-55', RECEIVER],
    ["with the checksum of EIP-1191 and the network's chain id", checksumAddress(RECEIVER, CHAIN_ID)],
  ])('%s is taken, and shown with its checksum', async (_how, to) => {
    const { id } = await story.send(pay({ to, call: { function: 'f(address)', args: [to] } }))
    expect(await story.get(id)).toMatchObject({ to: RECEIVER })
    const signed = await story.service.api('POST', `${MAIN}/sign-typed-data`, {
      ...permit,
      message: { spender: to },
    })
    expect(signed.status).toBe(200)
  })
})
