import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWallet } from '../../../simulators/solana/wallet.ts'
import {
  type SolanaBuild,
  type SponsoredSolana,
  signAs,
  startSponsoredSolana,
  USDC,
} from './solana-sponsored.ts'

let scenario: SponsoredSolana
beforeAll(async () => {
  scenario = await startSponsoredSolana()
}, 60_000)
afterAll(() => scenario.stop())

interface Reply<Result> {
  readonly result?: Result
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly code: string }
  }
}

async function call<Result>(method: string, params: object): Promise<Reply<Result>> {
  const answer = await scenario.service.api<never>('POST', '/relayers/main/rpc', {
    jsonrpc: '2.0',
    id: 1,
    method,
    params,
  })
  expect(answer.status).toBe(200)
  return answer.body as unknown as Reply<Result>
}

test('feeEstimate and prepareTransaction answer like a quote and a build', async () => {
  const wish = { transaction: scenario.gift(5n), fee_token: USDC }
  expect((await call('feeEstimate', wish)).result).toEqual({
    estimated_fee: '0.001515',
    conversion_rate: '150',
  })
  expect((await call('prepareTransaction', wish)).result).toMatchObject({
    fee_in_spl: '1515',
    fee_token: USDC,
  })
})

test('transferTransaction, signAndSendTransaction: a transfer of tokens is built, signed by the user, and sent', async () => {
  const { user, tokensAt, relayerTokens, friendTokens, tickUntil, solana } = scenario
  const friend = scenario.friend.address
  const built = await call<SolanaBuild>('transferTransaction', {
    amount: 25,
    token: USDC,
    source: user.address,
    destination: friend,
  })
  const transaction = signAs(built.result?.transaction ?? '', user)
  const { result, error } = await call<{ transaction: string; signature: string; id: string }>(
    'signAndSendTransaction',
    {
      transaction,
    },
  )
  expect(error).toBeUndefined()
  await tickUntil(String(result?.id), 'confirmed')
  expect(solana.included(String(result?.signature))).toBeDefined()
  expect([tokensAt(friendTokens), tokensAt(relayerTokens)]).toEqual([25n, 1_515n])
})

test('signTransaction signs what was built, and nothing else', async () => {
  const { user } = scenario
  const built = await call<SolanaBuild>('prepareTransaction', {
    transaction: scenario.gift(6n),
    fee_token: USDC,
  })
  const transaction = signAs(built.result?.transaction ?? '', user)
  const signed = await call<{ transaction: string; signature: string }>('signTransaction', { transaction })
  expect(signed.result).toEqual({ transaction: expect.any(String), signature: expect.any(String) })
  const bare = await call('signTransaction', { transaction: scenario.gift(6n) })
  expect(bare.error).toMatchObject({ code: -32602, data: { code: 'invalid_request' } })
})

test('getSupportedTokens and getFeaturesEnabled tell what the relayer accepts', async () => {
  expect((await call('getSupportedTokens', {})).result).toEqual({
    tokens: [{ mint: USDC, symbol: 'USDC', decimals: 6, max_allowed_fee: 1_000_000 }],
  })
  expect((await call('getFeaturesEnabled', {})).result).toEqual({ features: ['gasless'] })
})

test.each([
  ['feeEstimate', { transaction: 'AQAAAA==' }, -32602],
  ['feeEstimate', { transaction: 'AQAAAA==', fee_token: createWallet().address }, -32003],
  ['transferTransaction', { amount: 1.5, token: USDC, source: 'x', destination: 'y' }, -32602],
  ['transferTransaction', { amount: 1, token: USDC, source: 'x', destination: 'y' }, -32602],
  ['signAndSendTransaction', {}, -32602],
])('%s with %j is refused with a sentence', async (method, params, code) => {
  const { error } = await call(method, params)
  expect(error).toMatchObject({ code, message: expect.any(String) })
})

test('a key that may only call RPC neither builds nor sends', async () => {
  const { body } = await scenario.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'RPC',
    scopes: ['rpc'],
  })
  const answer = await scenario.service.api<never>(
    'POST',
    '/relayers/main/rpc',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'feeEstimate',
      params: { transaction: scenario.gift(5n), fee_token: USDC },
    },
    { authorization: `Bearer ${body.data.secret}` },
  )
  expect(answer.body).toMatchObject({ error: { code: 4100 } })
})
