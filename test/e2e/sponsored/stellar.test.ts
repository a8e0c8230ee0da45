import { Account, Asset, Memo, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keypairOf, MAIN, RECEIVER, XLM } from '../../support/stellar-scenario.ts'
import {
  type SponsoredStellar,
  signAs,
  startSponsoredStellar,
  USDC,
  USDC_NAME,
  USER,
} from './stellar-sponsored.ts'

let scenario: SponsoredStellar
beforeAll(async () => {
  scenario = await startSponsoredStellar(() => ({
    fee_payment_strategy: 'user',
    fee_margin_percentage: 10,
    slippage_percentage: 1,
    allowed_tokens: [
      { asset: USDC_NAME, max_allowed_fee: 1_000_000, price: { sources: [{ type: 'fixed', price: '0.4' }] } },
      { asset: 'XLM' },
      { asset: `EURC:${keypairOf('issuer').publicKey()}` },
    ],
  }))
}, 60_000)
afterAll(() => scenario.stop())

const wish = (units: bigint, more: object = {}) => ({
  transaction_xdr: scenario.payment(units),
  fee_token: USDC_NAME,
  ...more,
})

async function built(units: bigint, more: object = {}) {
  const { status, body } = await scenario.build(wish(units, more))
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}

const send = (transaction: string) => ({
  network: 'standalone',
  transaction_xdr: signAs(transaction, USER, scenario.ledger.passphrase),
  fee_bump: true,
})
const lumens = (account: string) => scenario.ledger.account(account)?.balance ?? 0n

describe('a user who pays in an asset', () => {
  test('is quoted the fee: 300 stroops at 0.4, with ten percent and one, rounded up', async () => {
    const { status, body } = await scenario.quote(wish(1n))
    expect(status).toBe(200)
    expect(body.data).toEqual({ fee_in_token: '134', fee_in_token_ui: '0.0000134', conversion_rate: '0.4' })
  })

  test('pays the relayer inside the transaction, and no stroop to the network', async () => {
    const { usdcOf, closeUntil, post } = scenario
    const before = [usdcOf(USER.publicKey()), lumens(USER.publicKey()), lumens(MAIN.publicKey())] as const
    const build = await built(5n * XLM)
    expect(build).toMatchObject({ fee_in_token: '134', fee_in_stroops: '300', fee_token: USDC_NAME })
    const seconds = (Date.parse(build.valid_until) - Date.now()) / 1_000
    expect(seconds).toBeGreaterThan(60)
    const { id } = await scenario.send(send(build.transaction))
    expect(await post(send(build.transaction))).toMatchObject({
      status: 400,
      body: { code: 'already_accepted' },
    })
    await closeUntil(id, 'confirmed')
    expect(usdcOf(MAIN.publicKey())).toBe(134n)
    expect(usdcOf(USER.publicKey())).toBe(before[0] - 5n * XLM - 134n)
    expect(lumens(USER.publicKey())).toBe(before[1])
    expect(before[2] - lumens(MAIN.publicKey())).toBe(300n)
  })

  test('may describe the transaction by its operations, and pay in lumens', async () => {
    const answer = await scenario.build({
      source_account: USER.publicKey(),
      operations: [{ type: 'payment', destination: RECEIVER, asset: { type: 'native' }, amount: '7' }],
      fee_token: 'native',
    })
    expect(answer.status).toBe(200)
    const { fee_in_token, fee_in_stroops } = answer.body.data
    const fee = BigInt(fee_in_token)
    expect(fee).toBe((BigInt(fee_in_stroops) * 110n * 101n + 9_999n) / 10_000n)
    const before = lumens(USER.publicKey())
    const { id } = await scenario.send(send(answer.body.data.transaction))
    await scenario.closeUntil(id, 'confirmed')
    expect(lumens(USER.publicKey())).toBe(before - 7n - fee)
  })

  test('gets the quoted amount at the build, although the same content is quoted twice', async () => {
    const first = await scenario.quote(wish(3n))
    expect((await built(3n)).fee_in_token).toBe(first.body.data.fee_in_token)
  })
})

describe('a build', () => {
  const { publicKey } = { publicKey: () => MAIN.publicKey() }
  const relayers = () =>
    new TransactionBuilder(new Account(USER.publicKey(), '1'), {
      fee: '100',
      networkPassphrase: scenario.ledger.passphrase,
    })
      .addOperation(
        Operation.payment({
          destination: USER.publicKey(),
          asset: Asset.native(),
          amount: '1',
          source: publicKey(),
        }),
      )
      .setTimeout(0)
      .addMemo(Memo.none())
      .build()
      .toXDR()

  test.each<[string, () => object, string, RegExp]>([
    [
      'an operation of the relayer',
      () => ({ transaction_xdr: relayers(), fee_token: USDC_NAME }),
      'invalid_request',
      /operations\[0\] has the relayer as its source/,
    ],
    [
      'the relayer as its user',
      () => ({ transaction_xdr: scenario.payment(1n, MAIN.publicKey()), fee_token: USDC_NAME }),
      'invalid_request',
      /^transaction_xdr: an account other than/,
    ],
    [
      'both contents',
      () => wish(1n, { operations: [{ type: 'manage_data', name: 'a', value: null }] }),
      'invalid_request',
      /operations/,
    ],
    ['no content', () => ({ fee_token: USDC_NAME }), 'invalid_request', /one of the two|transaction_xdr/],
    [
      'operations without their account',
      () => ({ operations: [{ type: 'manage_data', name: 'a', value: null }], fee_token: USDC_NAME }),
      'invalid_request',
      /^source_account: /,
    ],
    ['a malformed token', () => wish(1n, { fee_token: 'USDC' }), 'invalid_request', /^fee_token: /],
    [
      'a token that is not allowed',
      () => wish(1n, { fee_token: `ABC:${RECEIVER}` }),
      'policy_violation',
      /^fee_token: /,
    ],
    [
      'a token without a price',
      () => wish(1n, { fee_token: `EURC:${keypairOf('issuer').publicKey()}` }),
      'price_unavailable',
      /^fee_token: there is no price/,
    ],
    ['no XDR', () => wish(1n, { transaction_xdr: 'AAAA' }), 'invalid_request', /^transaction_xdr: /],
    [
      'the body of Solana',
      () => ({ transaction: 'AQAB', fee_token: USDC_NAME }),
      'wrong_network_type',
      /solana/,
    ],
  ])('with %s is refused', async (_name, body, code, error) => {
    const answer = await scenario.build(body())
    expect(answer).toMatchObject({ status: 400, body: { code, error: expect.stringMatching(error) } })
  })

  test('for a user who has not enough of the token is refused', async () => {
    const poor = keypairOf('poor')
    scenario.ledger.fund(poor.publicKey(), 10n * XLM)
    const body = { transaction_xdr: scenario.payment(1n, poor.publicKey()), fee_token: USDC_NAME }
    expect(await scenario.build(body)).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } })
  })
})

describe('what users sign', () => {
  test('without the payment is refused, and costs nothing', async () => {
    const before = lumens(MAIN.publicKey())
    const answer = await scenario.post(send(scenario.payment(2n)))
    expect(answer).toMatchObject({ status: 400, body: { code: 'payment_required' } })
    expect(lumens(MAIN.publicKey())).toBe(before)
  })

  test('with the authorization of a call is refused: there is none', async () => {
    const { transaction } = await built(2n)
    const { fee_bump: _, ...body } = send(transaction)
    const answer = await scenario.post({ ...body, signed_auth_entry: 'AAAA' })
    expect(answer).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^signed_auth_entry: /) },
    })
  })

  test('with a smaller payment is refused', async () => {
    const { transaction } = await built(2n)
    const { passphrase } = scenario.ledger
    const own = TransactionBuilder.fromXDR(transaction, passphrase)
    if (!('operations' in own) || 'innerTransaction' in own) throw new Error('it is no fee bump')
    const changed = new TransactionBuilder(new Account(USER.publicKey(), String(BigInt(own.sequence) - 1n)), {
      fee: '0',
      networkPassphrase: passphrase,
      timebounds: own.timeBounds ?? {},
    })
      .addOperation(Operation.payment({ destination: RECEIVER, asset: USDC, amount: '0.0000002' }))
      .addOperation(Operation.payment({ destination: MAIN.publicKey(), asset: USDC, amount: '0.0000001' }))
      .build()
    expect(await scenario.post(send(changed.toXDR()))).toMatchObject({
      status: 400,
      body: { code: 'payment_required' },
    })
  })

  test('is refused when the tokens have left since, and costs nothing', async () => {
    const before = lumens(MAIN.publicKey())
    const { transaction } = await built(2n)
    const { usdcOf, act, post } = scenario
    const all = usdcOf(USER.publicKey())
    const amount = `${all / XLM}.${String(all % XLM).padStart(7, '0')}`
    const body = send(transaction)
    await act(USER, Operation.payment({ destination: RECEIVER, asset: USDC, amount }))
    expect((await post(body)).status).toBe(400)
    expect(lumens(MAIN.publicKey())).toBe(before)
  })
})
