import { address } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TOKEN_2022_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { associatedAddress } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  openTokenAccount,
  type Step,
  signContent,
  transferTokens,
  unitLimit,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { addressOf } from '../../support/solana-scenario.ts'
import { MEMO, step, stranger } from './drains.ts'
import {
  DELEGATED,
  EXTENDED,
  type Paymaster,
  PRICE,
  startPaymaster,
  TWENTY_TWO,
  USDC,
  type User,
} from './paymaster.ts'

const OTHERS = ['second', 'third']
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** 10,000 lamports of fees and 2,039,280 of rent, at 150 for a SOL, one percent on top. */
const PRICE_WITH_RENT = 310_466n

let paymaster: Paymaster
beforeAll(async () => {
  const pool = ['main', ...OTHERS].map((id) => ({ id, weight: id === 'third' ? 1_000 : 1 }))
  const fixed = { type: 'fixed', token: USDC, amount: 2_000 }
  paymaster = await startPaymaster({
    others: OTHERS,
    policies: { fee_payer_spending: 'token_accounts' },
    plugins: {
      pool: { config: { relayers: pool } },
      weighted: { config: { relayers: pool, strategy: 'weighted' } },
      fixed: { config: { price: fixed } },
      strict: { config: { price: { ...fixed, strict: true }, open_token_accounts: true } },
      opens: { config: { open_token_accounts: true } },
      gifts: { config: { open_token_accounts: true, price: 'free' } },
      required: { config: { require_one_of_programs: [MEMO] } },
      newer: { config: { transaction_versions: [0] } },
      calm: { config: { max_priority_fee_lamports: 10 } },
      counted: {
        config: {
          open_token_accounts: true,
          instruction_limits: [
            { program: TOKEN, instruction: 'Transfer', max: 3, window_seconds: 86_400 },
            { program: ASSOCIATED, instruction: 'Create', max: 1, window_seconds: 86_400 },
          ],
        },
      },
      listed: { config: { token_2022: { mint_extensions: ['metadata_pointer'], account_extensions: [] } } },
      signed: { config: { force_sig_verify: true } },
    },
  })
}, 120_000)
afterAll(() => paymaster?.stop())

const refusal = (code: number, says: RegExp) => ({ error: { code, message: expect.stringMatching(says) } })

/** Opens an account of the token `USDC` for someone, at the cost of the relayer. */
async function opening(owner = createWallet().address): Promise<Step> {
  return openTokenAccount(SELF, await associatedAddress(owner, USDC), owner, USDC)
}

describe('a pool of relayers', () => {
  test('takes turns as the fee payer, and each has its own account for payments', async () => {
    const client = paymaster.client('pool')
    const signers = [
      await client.getPayerSigner(),
      await client.getPayerSigner(),
      await client.getPayerSigner(),
    ]
    const addresses = [paymaster.relayer, ...OTHERS.map(addressOf)]
    expect(signers.map(({ signer_address: signer }) => signer).toSorted()).toEqual(addresses.toSorted())
    expect(signers.every(({ signer_address, payment_address }) => signer_address === payment_address)).toBe(
      true,
    )
    expect((await client.getConfig()).fee_payers).toEqual(addresses)
  })

  test('follows the weights', async () => {
    const client = paymaster.client('weighted')
    const signers = await Promise.all(Array.from({ length: 20 }, () => client.getPayerSigner()))
    const third = signers.filter(({ signer_address: signer }) => signer === addressOf('third'))
    expect(third.length).toBeGreaterThan(15)
  })

  test('signs with the fee payer of the transaction, whom signer_key must name if it is given', async () => {
    const second = address(addressOf('second'))
    const user = await paymaster.user()
    const paid = await paymaster.hold(second, 0n)
    const steps = [transferTokens(user.tokens, paid, user.address, PRICE)]
    const { blockhash } = paymaster.solana.blocks.at(-3) ?? { blockhash: '' }
    const signers = [{ ...AS_PAYER, address: second }, user] as const
    const { base64: transaction } = signContent({ signers, blockhash, steps })
    const client = paymaster.client('pool')
    const estimate = await client.estimateTransactionFee({
      transaction,
      fee_token: USDC,
      signer_key: second,
    })
    expect(estimate).toMatchObject({ signer_pubkey: second, payment_address: second })
    const other = { transaction, signer_key: paymaster.relayer }
    expect(await paymaster.call('signTransaction', other, 'pool')).toMatchObject(
      refusal(-32_004, /signer_key/),
    )
    const stranger_ = { transaction, signer_key: stranger.address }
    expect(await paymaster.call('signTransaction', stranger_, 'pool')).toMatchObject(
      refusal(-32_004, /signer_key/),
    )
    const sent = await client.signAndSendTransaction({ transaction })
    expect(sent.signer_pubkey).toBe(second)
    expect(await paymaster.balance(second)).toBe(PRICE)
  })

  test('makes transfers with the signer that the caller names', async () => {
    const user = await paymaster.user()
    const wanted = { amount: 5, token: USDC, source: user.address, destination: paymaster.relayer }
    const made = await paymaster
      .client('pool')
      .transferTransaction({ ...wanted, signer_key: addressOf('third') })
    expect(made.signer_pubkey).toBe(addressOf('third'))
  })

  test('counts what a user has open with one of them for all of them', async () => {
    const user = await paymaster.user()
    await paymaster.hold(user.address, PRICE + 100n)
    const payers = [paymaster.relayer, ...OTHERS.map((name) => address(addressOf(name)))]
    const transactions = await Promise.all(
      payers.map(async (payer) => {
        const { blockhash } = paymaster.solana.blocks.at(-3) ?? { blockhash: '' }
        const paid = await paymaster.hold(payer, 0n)
        const steps = [transferTokens(user.tokens, paid, user.address, PRICE)]
        return signContent({ signers: [{ ...AS_PAYER, address: payer }, user], blockhash, steps }).base64
      }),
    )
    const answers = await Promise.all(
      transactions.map((transaction) => paymaster.call('signTransaction', { transaction }, 'pool')),
    )
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
    expect(answers.filter(({ error }) => error?.code === -32_003)).toHaveLength(2)
  })
})

describe('a fixed price', () => {
  const sign = (user: User, steps: readonly Step[], name = 'fixed') =>
    paymaster.call('signTransaction', { transaction: paymaster.transaction(user, steps) }, name)

  test('is what users pay, whatever the fee is, and in no other token', async () => {
    const user = await paymaster.user()
    const client = paymaster.client('fixed')
    const transaction = paymaster.transaction(user, [user.pay(2_000n)])
    const estimate = await client.estimateTransactionFee({ transaction, fee_token: USDC })
    expect(estimate).toMatchObject({ fee_in_lamports: 10_000, fee_in_token: 2_000 })
    await expect(client.estimateTransactionFee({ transaction, fee_token: TWENTY_TWO })).rejects.toThrow(
      'RPC Error -32002',
    )
    expect(await sign(user, [user.pay(1_999n)])).toMatchObject(refusal(-32_000, /pays 1999 .* costs 2000/))
    expect((await sign(user, [user.pay(2_000n)])).error).toBeUndefined()
    const other = await paymaster.user()
    const dearly = [unitLimit(10_000), unitPrice(1_000_000n), other.pay(2_000n)]
    expect((await sign(other, dearly)).error).toBeUndefined()
    expect((await client.getConfig()).validation_config.price).toMatchObject({ type: 'fixed', amount: 2_000 })
  })

  test('that is strict does not pay for what costs more', async () => {
    const user = await paymaster.user()
    expect((await sign(user, [user.pay(2_000n)], 'strict')).error).toBeUndefined()
    const dear = [unitLimit(10_000), unitPrice(1_000_000n), user.pay(2_000n)]
    expect(await sign(user, dear, 'strict')).toMatchObject(
      refusal(-32_001, /more than the fixed price of 2000/),
    )
    const opens = [user.pay(2_000n), await opening()]
    expect(await sign(user, opens, 'strict')).toMatchObject(refusal(-32_001, /costs 310466/))
  })
})

describe('opening token accounts', () => {
  test('costs the user the rent, and the relayer nothing but what is paid for', async () => {
    const user = await paymaster.user()
    const friend = createWallet().address
    const client = paymaster.client('opens')
    const steps = [await opening(friend)]
    const { fee_in_lamports, fee_in_token } = await client.estimateTransactionFee({
      transaction: paymaster.transaction(user, [user.pay(1n), ...steps]),
      fee_token: USDC,
    })
    expect({ fee_in_lamports, fee_in_token }).toEqual({
      fee_in_lamports: 2_049_280,
      fee_in_token: Number(PRICE_WITH_RENT),
    })
    const cheap = { transaction: paymaster.transaction(user, [user.pay(), ...steps]) }
    expect(await paymaster.call('signAndSendTransaction', cheap, 'opens')).toMatchObject(
      refusal(-32_000, /pays 1515 .* costs 310466/),
    )
    const before = paymaster.lamports()
    const transaction = paymaster.transaction(user, [user.pay(PRICE_WITH_RENT), ...steps])
    await client.signAndSendTransaction({ transaction })
    expect(paymaster.lamports()).toBe(before - 2_049_280n)
    expect(paymaster.solana.account(await associatedAddress(friend, USDC))).toBeDefined()
  })

  test('costs the rent also of an account that exists: its owner can close it until the block', async () => {
    const user = await paymaster.user()
    const existing = { ...(await opening(user.address)), data: Uint8Array.from([1]) }
    const transaction = paymaster.transaction(user, [user.pay(), existing])
    expect(await paymaster.call('signTransaction', { transaction }, 'opens')).toMatchObject(
      refusal(-32_000, /costs 310466/),
    )
  })

  test('is paid for although a stranger gets the rent in the same transaction', async () => {
    const user = await paymaster.user()
    const at = await associatedAddress(user.address, DELEGATED)
    const close = step(
      address(TOKEN),
      [
        [at, 'w'],
        [stranger.address, 'w'],
        [user.address, 's'],
      ],
      Buffer.from([9]),
    )
    const steps = [openTokenAccount(SELF, at, user.address, DELEGATED), close]
    const send = (amount: bigint) => {
      const transaction = paymaster.transaction(user, [user.pay(amount), ...steps])
      return paymaster.call('signAndSendTransaction', { transaction }, 'opens')
    }
    expect(await send(PRICE_WITH_RENT - 1n)).toMatchObject(refusal(-32_000, /costs 310466/))
    const before = paymaster.lamports()
    expect((await send(PRICE_WITH_RENT)).error).toBeUndefined()
    expect(paymaster.lamports()).toBe(before - 2_049_280n)
    expect(paymaster.solana.account(stranger.address)?.lamports).toBe(2_039_280n)
  })

  test('is refused where it is not switched on, and nothing is a gift', async () => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, [user.pay(PRICE_WITH_RENT), await opening()])
    expect(await paymaster.call('signTransaction', { transaction }, 'fixed')).toMatchObject(
      refusal(-32_001, /may appear in no instruction/),
    )
    expect(await paymaster.call('getConfig', {}, 'gifts')).toMatchObject({ error: { code: -32_090 } })
  })
})

describe('a rule', () => {
  const send = (transaction: string, name: string) => paymaster.call('signTransaction', { transaction }, name)
  const sign = (user: User, steps: readonly Step[], name: string) =>
    send(paymaster.transaction(user, steps), name)

  test('names programs of which one must be called', async () => {
    const user = await paymaster.user()
    const memo = step(MEMO, [[user.address, 's']], Buffer.from('hi'))
    expect(await sign(user, [user.pay()], 'required')).toMatchObject(refusal(-32_001, /must be called: Memo/))
    expect((await sign(user, [user.pay(), memo], 'required')).error).toBeUndefined()
  })

  test('names the versions of transactions', async () => {
    const user = await paymaster.user()
    expect(await sign(user, [user.pay()], 'newer')).toMatchObject(refusal(-32_001, /version legacy/))
  })

  test('limits what priority may cost', async () => {
    const user = await paymaster.user()
    const bid = (price: bigint) => [unitLimit(10_000), unitPrice(price), user.pay(5_000n)]
    expect(await sign(user, bid(2_000n), 'calm')).toMatchObject(
      refusal(-32_001, /priority costs 20 lamports/),
    )
    expect((await sign(user, bid(1_000n), 'calm')).error).toBeUndefined()
  })

  test('limits instructions of a kind for each user, counts a transaction once, and all of its own', async () => {
    const user = await paymaster.user()
    const three = paymaster.transaction(user, [user.pay(500n), user.pay(500n), user.pay(515n)])
    expect((await send(three, 'counted')).error).toBeUndefined()
    expect((await send(three, 'counted')).error).toBeUndefined()
    expect(await sign(user, [user.pay()], 'counted')).toMatchObject(refusal(-32_031, /transfer: The limit/))
    const other = await paymaster.user()
    const four = [500n, 500n, 500n, 500n].map((amount) => other.pay(amount))
    expect(await sign(other, four, 'counted')).toMatchObject(refusal(-32_031, /transfer/))
  })

  test('limits how many accounts a user has opened', async () => {
    const user = await paymaster.user()
    const twice = [user.pay(2n * PRICE_WITH_RENT), await opening(), await opening()]
    expect(await sign(user, twice, 'counted')).toMatchObject(refusal(-32_031, /create/))
  })

  test('lists the extensions of tokens that may move', async () => {
    const user = await paymaster.user()
    const { mint } = EXTENDED['a permanent delegate']
    const token = { mint, program: TOKEN_2022_PROGRAM }
    const [from, to] = [
      await paymaster.hold(user.address, 5n, token),
      await paymaster.hold(stranger.address, 0n, token),
    ]
    const move = { ...transferTokens(from, to, user.address, 1n), program: TOKEN_2022_PROGRAM }
    expect(await sign(user, [user.pay(), move], 'listed')).toMatchObject(
      refusal(-32_001, /permanent_delegate/),
    )
    expect((await sign(user, [user.pay(), move], 'opens')).error).toBeUndefined()
    expect((await sign(user, [user.pay()], 'listed')).error).toBeUndefined()
  })

  test('asks for all signatures, whatever the caller says', async () => {
    const user = await paymaster.user()
    const bytes = Buffer.from(paymaster.transaction(user, [user.pay()]), 'base64')
    bytes.fill(0, 65, 129)
    const params = { transaction: bytes.toString('base64'), sig_verify: false }
    expect(await paymaster.call('signTransaction', params, 'signed')).toMatchObject(
      refusal(-32_000, /missing/),
    )
  })
})
