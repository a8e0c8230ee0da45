import { address } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlockEngine, startBlockEngine } from '../../../simulators/solana/block-engine.ts'
import { createWallet, signContent, transfer } from '../../../simulators/solana/wallet.ts'
import { type Paymaster, PRICE, type Reply, startPaymaster, USDC, type User } from './paymaster.ts'

let paymaster: Paymaster
let engine: BlockEngine
beforeAll(async () => {
  const bundles = { block_engine_url_env: 'ENGINE' }
  paymaster = await startPaymaster({
    plugins: {
      jito: { config: { bundles }, more: { env: ['ENGINE'] } },
      gifts: { config: { bundles, price: 'free' }, more: { env: ['ENGINE'] } },
    },
    envOf: async (solana) => {
      engine = await startBlockEngine(solana)
      return { ENGINE: `${engine.url}/` }
    },
  })
}, 120_000)
afterAll(async () => {
  await paymaster?.stop()
  engine?.stop()
})

const call = (method: string, transactions: unknown, more: object = {}, name = 'jito'): Promise<Reply> =>
  paymaster.call(method, { transactions, ...more }, name)
const refusal = (code: number, says: RegExp) => ({ error: { code, message: expect.stringMatching(says) } })

/** A user with SOL for the tip of the block engine. */
async function tipper(): Promise<User> {
  const user = await paymaster.user()
  paymaster.solana.airdrop(user.address, 1_000_000_000n)
  return user
}

const tip = (user: User) => transfer(user.address, address(engine.tipAccounts[0] ?? ''), 10_000n)

/** Transactions of a user that pay for themselves; the first one has the tip. */
function paying(user: User, amounts: readonly bigint[] = [PRICE, PRICE + 1n]): string[] {
  return amounts.map((amount, index) =>
    paymaster.transaction(user, index === 0 ? [user.pay(amount), tip(user)] : [user.pay(amount)]),
  )
}

describe('a bundle', () => {
  test('costs what its transactions cost together', async () => {
    const user = await tipper()
    const { result } = await call('estimateBundleFee', paying(user), { fee_token: USDC })
    expect(result).toEqual({
      fee_in_lamports: 20_000,
      fee_in_token: 2 * Number(PRICE),
      signer_pubkey: paymaster.relayer,
      payment_address: paymaster.relayer,
    })
    expect((await call('estimateBundleFee', paying(user))).result).not.toHaveProperty('fee_in_token')
  })

  test('is signed as a whole, and the same again when it is asked for again', async () => {
    const user = await tipper()
    const transactions = paying(user)
    const { result } = await call('signBundle', transactions)
    expect(result).toMatchObject({
      signed_transactions: [expect.any(String), expect.any(String)],
      signer_pubkey: paymaster.relayer,
    })
    expect((await call('signBundle', transactions)).result).toEqual(result)
  })

  test('is handed over to the block engine, however often it is asked for, and included together', async () => {
    const user = await tipper()
    const before = await paymaster.balance(paymaster.relayer)
    const transactions = paying(user)
    const replies = [
      await call('signAndSendBundle', transactions),
      await call('signAndSendBundle', transactions),
    ]
    const id = String(replies[0]?.result?.bundle_uuid)
    expect(engine.bundles.get(id)).toHaveLength(2)
    expect(replies[1]?.result).toEqual(replies[0]?.result)
    await expect.poll(() => paymaster.balance(paymaster.relayer)).toBe(before + 2n * PRICE + 1n)
    expect(engine.bundles.get(id)?.every((one) => paymaster.solana.included(one))).toBe(true)
  })

  test('has parts of others, which are passed on as they are', async () => {
    const user = await tipper()
    const { blockhash } = paymaster.solana.blocks.at(-3) ?? { blockhash: '' }
    const steps = [transfer(user.address, createWallet().address, 2_000_000n)]
    const own = signContent({ signers: [user], blockhash, steps }).base64
    const ours = paying(user, [PRICE])
    const { result } = await call('signBundle', [own, ...ours], { sign_only_indices: [1] })
    expect(result).toMatchObject({ signed_transactions: [own, expect.any(String)] })
    expect(await call('signBundle', [own, ...ours])).toMatchObject(refusal(-32_001, /fee payer must be/))
  })

  test('is not signed where one part leaves the payment to another: the user can send one alone', async () => {
    const user = await tipper()
    const [first = '', ...others] = paying(user, [2n * PRICE])
    const freeloader = paymaster.transaction(user, [tip(user)])
    for (const method of ['signBundle', 'signAndSendBundle'])
      expect(await call(method, [first, freeloader, ...others])).toMatchObject(
        refusal(-32_000, /pays nothing/),
      )
    expect((await call('signBundle', [freeloader], {}, 'gifts')).error).toBeUndefined()
  })

  test('is not signed where its user has too little for all of it', async () => {
    const user = await tipper()
    await paymaster.hold(user.address, PRICE + 100n)
    expect(await call('signBundle', paying(user))).toMatchObject(refusal(-32_003, /pay 3031 .* has 1615/))
  })

  test.each<[string, number, RegExp, (user: User) => unknown, object]>([
    ['nothing', -32_000, /expected a list/, () => [], {}],
    ['no list', -32_000, /expected a list/, () => 'AQAB', {}],
    ['six transactions', -32_060, /at most 5, not 6/, () => Array.from({ length: 6 }, () => 'AQAB'), {}],
    ['what is no transaction', -32_000, /transactions\[0\]/, () => ['AQAB'], {}],
    [
      'the same one twice',
      -32_000,
      /twice/,
      (user) => {
        const [one] = paying(user)
        return [one, one]
      },
      {},
    ],
    ['an index too much', -32_602, /sign_only_indices/, (user) => paying(user), { sign_only_indices: [2] }],
    ['no index', -32_602, /sign_only_indices/, (user) => paying(user), { sign_only_indices: [] }],
    ['another signer', -32_004, /signer_key/, (user) => paying(user), { signer_key: createWallet().address }],
  ])('of %s is refused', async (_, code, says, make, more) => {
    const transactions = make(await tipper())
    expect(await call('signAndSendBundle', transactions, more)).toMatchObject(refusal(code, says))
  })

  test('needs all signatures of users to be handed over, and to be signed none', async () => {
    const user = await tipper()
    const unsigned = paying(user).map((one) => {
      const bytes = Buffer.from(one, 'base64')
      bytes.fill(0, 65, 129)
      return bytes.toString('base64')
    })
    expect(await call('signAndSendBundle', unsigned)).toMatchObject(refusal(-32_000, /is missing/))
    expect((await call('signBundle', unsigned)).error).toBeUndefined()
  })
})

describe('a block engine', () => {
  test('that refuses is quoted, and nothing is said about the bundle', async () => {
    const user = await tipper()
    const withoutTip = [paymaster.transaction(user, [user.pay()])]
    expect(await call('signAndSendBundle', withoutTip)).toMatchObject(
      refusal(-32_060, /tip account .* may still be included/),
    )
  })

  test('that does not answer may have the bundle: asked again, it is the same one', async () => {
    const user = await tipper()
    const transactions = paying(user)
    engine.silence(true)
    expect(await call('signAndSendBundle', transactions)).toMatchObject(refusal(-32_060, /did not answer/))
    engine.silence(false)
    const count = engine.bundles.size
    expect((await call('signAndSendBundle', transactions)).result).toHaveProperty('bundle_uuid')
    expect(engine.bundles.size).toBe(count)
  })
})
