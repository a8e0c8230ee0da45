import { address } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import {
  advanceNonce,
  createAccount,
  createWallet,
  openTokenAccount,
  type Step,
  signContent,
  transfer,
  transferTokens,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { broadcastDirectly, MAIN, SOL } from '../../support/solana-scenario.ts'
import {
  POLICIES,
  type SponsoredSolana,
  signAs,
  startSponsoredSolana,
  tokenStep,
  USDC,
} from './solana-sponsored.ts'

const UNPRICED = createWallet().address
const UNHELD = createWallet().address
const DEAR = createWallet().address
const RELAYER = address(MAIN)

let scenario: SponsoredSolana
beforeAll(async () => {
  const price = { sources: [{ type: 'fixed', price: '150' }] }
  const [usdc] = POLICIES.allowed_tokens
  const allowed_tokens = [
    { ...usdc, swap_config: { slippage_percentage: 1, min_amount: 5 } },
    { mint: UNPRICED },
    { mint: UNHELD, price },
    { mint: DEAR, price, max_allowed_fee: '1514' },
  ]
  scenario = await startSponsoredSolana({ policies: { ...POLICIES, allowed_tokens } })
  for (const mint of [UNPRICED, UNHELD, DEAR]) plantMint(scenario.solana, mint, { decimals: 6 })
  for (const mint of [UNPRICED, DEAR])
    for (const owner of [RELAYER, scenario.user.address])
      plantTokens(scenario.solana, await associatedAddress(owner, mint), { mint, owner, amount: 1_000_000n })
}, 60_000)
afterAll(() => scenario.stop())

const wish = (amount: bigint, steps: readonly Step[] = []) => ({
  transaction: scenario.gift(amount, steps),
  fee_token: USDC,
})

async function built(amount: bigint) {
  const { status, body } = await scenario.build(wish(amount))
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}

const lamports = () => scenario.solana.account(MAIN)?.lamports ?? 0n

describe('a user without SOL', () => {
  test('is quoted the fee in tokens: 10,000 lamports at 150, one percent on top', async () => {
    const { status, body } = await scenario.quote(wish(1n))
    expect(status).toBe(200)
    expect(body.data).toEqual({ estimated_fee: '0.001515', conversion_rate: '150' })
  })

  test('pays the relayer in the transaction that the relayer pays for, once, and the report shows both', async () => {
    const { solana, tokensAt, relayerTokens, friendTokens, user, send, post, tickUntil, service } = scenario
    const before = lamports()
    const build = await built(2_000_000n)
    expect(build).toMatchObject({ fee_in_spl: '1515', fee_in_lamports: '10000', fee_token: USDC })
    expect(build.valid_until_blockheight).toBeGreaterThan(Number(solana.blockHeight()))
    const body = { transaction: signAs(build.transaction, user) }
    const { id } = await send(body)
    const again = await post(body)
    expect(again).toMatchObject({ status: 400, body: { code: 'already_accepted' } })
    const dry = await service.api('POST', '/relayers/main/transactions?dry_run=true', body)
    expect(dry.body.data).toMatchObject({ accepted: false, code: 'already_accepted' })
    await tickUntil(id, 'confirmed')
    expect(lamports()).toBe(before - 10_000n)
    expect([tokensAt(relayerTokens), tokensAt(friendTokens)]).toEqual([1_515n, 2_000_000n])
    const day = 86_400_000
    const [from, to] = [Date.now() - day, Date.now() + day].map((time) => new Date(time).toISOString())
    const report = await service.api('GET', `/reports/spending?from=${from}&to=${to}`)
    expect(report.body.data).toMatchObject([
      { asset: 'native', fees: '10000', earned: '0' },
      { asset: USDC, value: '0', fees: '0', earned: '1515' },
    ])
  })

  test('is signed for, and sends it alone', async () => {
    const { user, service } = scenario
    const build = await built(3n)
    const transaction = signAs(build.transaction, user)
    const signed = await service.api<{ transaction: string; signature: string }>(
      'POST',
      '/relayers/main/sign-transaction',
      { transaction },
    )
    expect(signed.status).toBe(200)
    expect(Buffer.from(signed.body.data.transaction, 'base64').length).toBe(
      Buffer.from(transaction, 'base64').length,
    )
  })
})

describe('a quote', () => {
  test.each([
    [
      'a token that is not allowed',
      () => ({ ...wish(1n), fee_token: createWallet().address }),
      'policy_violation',
      /^fee_token: /,
    ],
    [
      'no address as its token',
      () => ({ ...wish(1n), fee_token: 'USDC' }),
      'invalid_request',
      /^fee_token: the mint of a token/,
    ],
    [
      'a token without a price',
      () => ({ ...wish(1n), fee_token: UNPRICED }),
      'price_unavailable',
      /^fee_token: there is no price/,
    ],
    [
      'a token for which the relayer has no account',
      () => ({ ...wish(1n), fee_token: UNHELD }),
      'account_not_found',
      /^fee_token: the relayer has no account/,
    ],
    [
      'more than max_allowed_fee',
      () => ({ ...wish(1n), fee_token: DEAR }),
      'fee_above_cap',
      /^fee_token: the fee is 1515 .* max_allowed_fee is 1514/,
    ],
    ['no transaction', () => ({ transaction: 'AQAB', fee_token: USDC }), 'invalid_request', /^transaction: /],
    [
      'the body of Stellar',
      () => ({ transaction_xdr: 'AAAA', fee_token: 'native' }),
      'wrong_network_type',
      /stellar/,
    ],
    ['more than the fields', () => ({ ...wish(1n), speed: 'fast' }), 'invalid_request', /speed/],
  ])('for %s is refused', async (_name, body, code, error) => {
    const answer = await scenario.quote(body())
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code,
        error: expect.stringMatching(error),
      },
    })
  })

  test('for what only the relayer signs is refused, because no user pays', async () => {
    const { blockhash } = scenario.solana.blocks.at(-2) ?? { blockhash: '' }
    const payer = { ...createWallet(), address: RELAYER }
    const { base64 } = signContent({ signers: [payer], blockhash, steps: [transfer(RELAYER, UNHELD, 1n)] })
    const { body } = await scenario.quote({ transaction: base64, fee_token: USDC })
    expect(body).toMatchObject({
      code: 'invalid_request',
      error: 'transaction: a transaction that a user signs is expected.',
    })
  })

  test('for a durable nonce is refused: it would never end', async () => {
    const { user, solana } = scenario
    const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
    const steps = [advanceNonce(createWallet().address, user.address)]
    const { base64 } = signContent({ signers: [user], blockhash, steps })
    const { body } = await scenario.quote({ transaction: base64, fee_token: USDC })
    expect(body).toMatchObject({ code: 'invalid_request', error: expect.stringMatching(/durable nonce/) })
  })
})

describe('a drain', () => {
  const other = createWallet()
  const uses = (...all: readonly [string, string][]) =>
    all.map(([name, rights]) => ({
      address: address(name),
      signs: rights.includes('s'),
      writes: rights.includes('w'),
    }))

  test.each<[string, () => Step, string]>([
    ['lamports', () => transfer(RELAYER, other.address, 5n), 'fee_payer_at_risk'],
    [
      'the rent of an account of the user',
      () => openTokenAccount(RELAYER, other.address, scenario.user.address, USDC),
      'fee_payer_at_risk',
    ],
    [
      'an account that it pays',
      () =>
        createAccount(RELAYER, scenario.user.address, {
          lamports: 1_000_000n,
          space: 0,
          owner: SYSTEM_PROGRAM,
        }),
      'fee_payer_at_risk',
    ],
    [
      'its tokens',
      () => transferTokens(scenario.relayerTokens, scenario.userTokens, RELAYER, 1n),
      'fee_payer_at_risk',
    ],
    [
      'an allowance',
      () => tokenStep(4, uses([scenario.relayerTokens, 'w'], [other.address, ''], [MAIN, 's']), 9n),
      'fee_payer_at_risk',
    ],
    [
      'the end of its token account',
      () => tokenStep(9, uses([scenario.relayerTokens, 'w'], [other.address, 'w'], [MAIN, 's'])),
      'fee_payer_at_risk',
    ],
    ['a durable nonce, by ending it', () => advanceNonce(other.address, RELAYER), 'fee_payer_at_risk'],
    ['a price for priority without a limit', () => unitPrice(10n ** 12n), 'fee_above_cap'],
    [
      'the tokens that would pay',
      () =>
        transferTokens(
          scenario.userTokens,
          scenario.friendTokens,
          scenario.user.address,
          scenario.tokensAt(scenario.userTokens) - 1n,
        ),
      'execution_reverted',
    ],
  ])('of %s is not built', async (_name, step, code) => {
    const before = lamports()
    const { status, body } = await scenario.build(wish(1n, [step()]))
    expect([status, body.code]).toEqual([400, code])
    expect(lamports()).toBe(before)
  })
})

describe('what users sign', () => {
  /** The bytes of an amount in an instruction. */
  const bytesOf = (amount: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(amount)
    return bytes
  }

  function changed(base64: string, from: Buffer, to: Buffer): string {
    const bytes = Buffer.from(base64, 'base64')
    bytes.set(to, bytes.indexOf(from))
    return bytes.toString('base64')
  }

  test.each([
    ['a smaller payment', (base64: string) => changed(base64, bytesOf(1_515n), bytesOf(1n))],
    ['another transfer', (base64: string) => changed(base64, bytesOf(7n), bytesOf(8n))],
  ])('with %s is refused, sent or signed', async (_name, change) => {
    const { user, post, service } = scenario
    const before = lamports()
    const body = { transaction: signAs(change((await built(7n)).transaction), user) }
    expect(await post(body)).toMatchObject({ status: 400, body: { code: 'payment_required' } })
    const signing = await service.api('POST', '/relayers/main/sign-transaction', body)
    expect(signing).toMatchObject({ status: 400, body: { code: 'payment_required' } })
    expect(lamports()).toBe(before)
  })

  test('without a quote is refused, alone and in a batch', async () => {
    const { user, solana, post, service } = scenario
    const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
    const relayer = { ...createWallet(), address: RELAYER }
    const steps = [transferTokens(scenario.userTokens, scenario.friendTokens, user.address, 1n)]
    const { base64: transaction } = signContent({ signers: [relayer, user], blockhash, steps })
    expect(await post({ transaction })).toMatchObject({ status: 400, body: { code: 'payment_required' } })
    const batch = await service.api('POST', '/relayers/main/transactions/batch', {
      transactions: [{ transaction }],
    })
    expect(batch).toMatchObject({ status: 400, body: { code: 'payment_required' } })
  })

  test('without their signature is refused', async () => {
    const { transaction } = await built(9n)
    expect((await scenario.post({ transaction })).body).toMatchObject({
      code: 'invalid_request',
      error: expect.stringMatching(/^transaction: the signature of .* is missing/),
    })
  })

  test('is refused when their tokens have left since', async () => {
    const { user, userTokens, friendTokens, tokensAt, solana, post } = scenario
    const { transaction } = await built(1n)
    const before = [lamports(), tokensAt(userTokens)] as const
    const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
    solana.airdrop(user.address, SOL)
    const all = [transferTokens(userTokens, friendTokens, user.address, before[1])]
    const { base64 } = signContent({ signers: [user], blockhash, steps: all })
    await broadcastDirectly(solana, base64)
    solana.tick(3)
    expect(tokensAt(userTokens)).toBe(0n)
    const answer = await post({ transaction: signAs(transaction, user) })
    expect(answer.status).toBe(400)
    expect(lamports()).toBe(before[0])
  })
})
