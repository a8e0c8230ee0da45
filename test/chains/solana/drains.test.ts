import { type Address, getAddressEncoder } from '@solana/kit'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import {
  createAccount,
  createWallet,
  openTokenAccount,
  type Step,
  transfer,
  transferTokens,
  u32,
  u64,
  unitPrice,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { SolanaPolicies, SolanaRequest } from '../../../src/chains/solana/content.ts'
import { accountWith, draftOf, OTHER, requestOf, SELF, type Stage, sendOn, startStage } from './build.ts'

const SOL = 1_000_000_000n

let stage: Stage
let attacker: Wallet
let mint: Address
/** Holds a thousand tokens of the relayer. */
let hoard: Address
/** Holds nothing yet. */
let loot: Address

beforeEach(async () => {
  stage = await startStage()
  attacker = createWallet()
  mint = createWallet().address
  stage.solana.airdrop(attacker.address, 5n * SOL)
  plantMint(stage.solana, mint, { decimals: 6 })
  hoard = await associatedAddress(SELF, mint)
  loot = await associatedAddress(attacker.address, mint)
  plantTokens(stage.solana, hoard, { mint, owner: SELF, amount: 1_000n })
  plantTokens(stage.solana, loot, { mint, owner: attacker.address, amount: 0n })
})

/** Returns the refusal of the chain, at the API or before it signs; both count. */
async function refusalOf(request: SolanaRequest, policies: SolanaPolicies = {}): Promise<string | undefined> {
  const account = accountWith(policies)
  const refusal = stage.chain.check(request, account)
  const answer = await stage.chain.prepare(request, account)
  // The worker refuses everything that the API refuses, because rules may change while a request waits.
  if (refusal !== undefined)
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code: refusal.code } })
  return answer.kind === 'refused' ? answer.refusal.code : undefined
}

/** Refused, although the network would do it: where the relayer's owner allows everything, it passes. */
async function expectStopped(request: SolanaRequest): Promise<void> {
  expect(await refusalOf(request, { feePayerSpending: 'always' })).toBeUndefined()
  expect(await refusalOf(request)).toBe('fee_payer_at_risk')
}

/** A transaction that the relayer is asked to pay for, and that the attacker has signed. */
const asked = (...steps: readonly Step[]) => stage.prebuilt(steps, attacker)

/** So that the attacker is a signer of what needs no signature of theirs. */
const alibi = () => transfer(attacker.address, OTHER, 1n)

describe('a caller whose transaction the relayer pays for', () => {
  test('cannot take lamports of the relayer by a transfer', async () => {
    await expectStopped(asked(alibi(), transfer(SELF, attacker.address, SOL)))
  })

  test('cannot take more lamports than they give the relayer in the same transaction', async () => {
    const give = transfer(attacker.address, SELF, SOL)
    const take = transfer(SELF, attacker.address, 2n * SOL)
    await expectStopped(asked(give, take))
  })

  test('cannot make the relayer pay the rent of a token account', async () => {
    const wallet = createWallet().address
    const at = await associatedAddress(wallet, mint)
    await expectStopped(asked(alibi(), openTokenAccount(SELF, at, wallet, mint)))
  })

  test('cannot make the relayer pay for an account of their own program', async () => {
    const made = createWallet()
    const account = { lamports: SOL, space: 0, owner: attacker.address }
    await expectStopped(stage.prebuilt([createAccount(SELF, made.address, account)], made))
  })

  test('cannot take the account of the relayer by assigning it to a program', async () => {
    const accounts = [{ address: SELF, signs: true, writes: true }]
    const data = Buffer.concat([u32(1), Buffer.from(getAddressEncoder().encode(attacker.address))])
    const assign = { program: SYSTEM_PROGRAM, accounts, data }
    await expectStopped(asked(alibi(), assign))
  })

  test('cannot take what is in a nonce account over which the relayer has authority', async () => {
    const accounts = [
      { address: createWallet().address, writes: true },
      { address: attacker.address, writes: true },
      { address: SELF, signs: true },
    ]
    const withdraw = { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(5), u64(SOL)]) }
    expect(await refusalOf(asked(alibi(), withdraw))).toBe('fee_payer_at_risk')
  })

  test('cannot take what is in an address table of the relayer by closing it', async () => {
    const accounts = [
      { address: createWallet().address, writes: true },
      { address: SELF, signs: true },
      { address: attacker.address, writes: true },
    ]
    const close = { program: LOOKUP_TABLE_PROGRAM, accounts, data: u32(4) }
    expect(await refusalOf(asked(alibi(), close))).toBe('fee_payer_at_risk')
  })

  test('cannot take tokens of the relayer, however many decimals they have', async () => {
    const strange = createWallet().address
    plantMint(stage.solana, strange, { decimals: 255 })
    await expectStopped(asked(alibi(), transferTokens(hoard, loot, SELF, 1n)))
    const accounts = [
      { address: hoard, writes: true },
      { address: strange },
      { address: loot, writes: true },
      { address: SELF, signs: true },
    ]
    const checked = { program: TOKEN_PROGRAM, accounts, data: Buffer.from([12, ...u64(1n), 255]) }
    expect(await refusalOf(asked(alibi(), checked))).toBe('fee_payer_at_risk')
  })

  test('cannot get the right to take tokens of the relayer later', async () => {
    const accounts = [
      { address: hoard, writes: true },
      { address: attacker.address },
      { address: SELF, signs: true },
    ]
    const approve = { program: TOKEN_PROGRAM, accounts, data: Buffer.from([4, ...u64(1_000n)]) }
    await expectStopped(asked(alibi(), approve))
  })

  test('cannot pass the authority of the relayer to a program of their own (a transfer hook)', async () => {
    const accounts = [{ address: SELF }, { address: loot, writes: true }]
    const hook = { program: TOKEN_2022_PROGRAM, accounts, data: Buffer.from([1]) }
    expect(await refusalOf(asked(alibi(), hook))).toBe('fee_payer_at_risk')
  })

  test('cannot take tokens of the relayer as the permanent delegate of their mint', async () => {
    const [tricky, its, theirs] = [createWallet(), createWallet(), createWallet()].map(
      ({ address }) => address,
    )
    if (!tricky || !its || !theirs) throw new Error('no addresses')
    plantWithDelegate(tricky, attacker.address)
    const program = TOKEN_2022_PROGRAM
    plantTokens(stage.solana, its, { mint: tricky, owner: SELF, amount: 500n, program })
    plantTokens(stage.solana, theirs, { mint: tricky, owner: attacker.address, amount: 0n, program })
    const accounts = [
      { address: its, writes: true },
      { address: tricky },
      { address: theirs, writes: true },
      { address: attacker.address, signs: true },
    ]
    const take = { program, accounts, data: Buffer.from([12, ...u64(500n), 0]) }
    expect(stage.chain.check(asked(take), accountWith())).toBeUndefined()
    await expectStopped(asked(take))
  })

  test('cannot make the relayer pay more than a fee by naming any price for priority', async () => {
    expect(await refusalOf(asked(alibi(), unitPrice(2n ** 64n - 1n)))).toBe('fee_above_cap')
    expect(await refusalOf(asked(alibi(), unitPrice(1_000_000n)), { maxFee: 15_000n })).toBe('fee_above_cap')
  })

  test('cannot act in the name of an account that has not signed', () => {
    const otherWallet = createWallet()
    const request = stage.prebuilt([alibi()], attacker)
    const bytes = Buffer.from(request.transaction ?? '', 'base64')
    bytes.fill(0, 1 + 64, 1 + 128)
    const missing = requestOf({ transaction: bytes.toString('base64') })
    expect(stage.chain.check(missing, accountWith())?.detail).toContain(`${attacker.address} is missing`)
    const forged = stage.prebuilt([alibi()], { address: attacker.address, key: otherWallet.key })
    expect(stage.chain.check(forged, accountWith())?.detail).toContain(
      `${attacker.address} is not for this transaction`,
    )
  })
})

describe('a caller who takes nothing from the relayer that pays the fee', () => {
  test('gets just the payment of the fee', async () => {
    const request = asked(transfer(attacker.address, OTHER, SOL))
    const { transaction, spends, fee } = draftOf(await stage.chain.prepare(request, accountWith()))
    expect([transaction, spends, fee]).toEqual([request.transaction, 0n, 10_000n])
    const { signed } = await sendOn(stage.chain, request)
    stage.solana.tick()
    expect(stage.solana.included(signed.hash)?.err).toBeNull()
    expect(stage.solana.account(SELF)?.lamports).toBe(10n * SOL - 10_000n)
  })

  test('may give something to the relayer', async () => {
    expect(await refusalOf(asked(transfer(attacker.address, SELF, SOL)))).toBeUndefined()
  })

  test('may move the tokens of others', async () => {
    const request = asked(transferTokens(loot, hoard, attacker.address, 0n))
    expect(await refusalOf(request)).toBeUndefined()
  })
})

describe('a caller who pays for a transaction in tokens', () => {
  let other: Address
  const pays = (amount: bigint) => transferTokens(loot, hoard, attacker.address, amount)

  test.each<[string, bigint, () => readonly Step[], string | undefined]>([
    ['pays all of it', 100n, () => [pays(100n)], undefined],
    ['may pay more', 99n, () => [pays(100n)], undefined],
    ['may not pay less', 101n, () => [pays(100n)], 'fee_payer_at_risk'],
    [
      'may not pay another',
      100n,
      () => [transferTokens(loot, other, attacker.address, 100n)],
      'fee_payer_at_risk',
    ],
    [
      'may not take a part back',
      100n,
      () => [pays(100n), transferTokens(hoard, loot, SELF, 1n)],
      'fee_payer_at_risk',
    ],
  ])('%s', async (_, amount, steps, code) => {
    plantTokens(stage.solana, loot, { mint, owner: attacker.address, amount: 100n })
    other = await associatedAddress(OTHER, mint)
    plantTokens(stage.solana, other, { mint, owner: OTHER, amount: 0n })
    const payment = {
      quoteId: 'quote',
      token: mint,
      amount,
      payer: attacker.address,
      receiver: hoard,
      fee: 10_000n,
      validUntil: new Date('2030-01-01T00:00:00.000Z'),
    }
    expect(await refusalOf({ ...asked(...steps()), payment })).toBe(code)
  })
})

describe('fee_payer_spending', () => {
  const own = () => stage.prebuilt([transfer(SELF, OTHER, SOL)])
  const externallySigned = () => asked(alibi(), transfer(SELF, OTHER, SOL))

  test.each([
    [undefined, undefined, 'fee_payer_at_risk'],
    ['own', undefined, 'fee_payer_at_risk'],
    ['always', undefined, undefined],
    ['never', 'fee_payer_at_risk', 'fee_payer_at_risk'],
  ] as const)(
    '%s decides about what only the relayer signs, and what others sign too',
    async (setting, alone, together) => {
      const policies = setting === undefined ? {} : { feePayerSpending: setting }
      expect(await refusalOf(own(), policies)).toBe(alone)
      expect(await refusalOf(externallySigned(), policies)).toBe(together)
    },
  )

  test('always: what leaves is known from the simulation, and reserved', async () => {
    const account = accountWith({ feePayerSpending: 'always' })
    const draft = draftOf(await stage.chain.prepare(externallySigned(), account))
    expect([draft.spends, stage.chain.cost(draft)]).toEqual([SOL, SOL + 10_000n])
  })
})

/** A mint of Token-2022 with the extension `PermanentDelegate` (type 12). */
function plantWithDelegate(at: Address, delegate: Address): void {
  const data = Buffer.alloc(166 + 4 + 32)
  data.writeUInt8(1, 45)
  data.writeUInt8(1, 165)
  data.writeUInt16LE(12, 166)
  data.writeUInt16LE(32, 168)
  data.set(getAddressEncoder().encode(delegate), 170)
  const lamports = stage.solana.rentExemption(data.length)
  stage.solana.plant(at, {
    lamports,
    data: Uint8Array.from(data),
    owner: TOKEN_2022_PROGRAM,
    executable: false,
  })
}

describe('a relayer that may pay for token accounts', () => {
  const RENT = 2_039_280n
  const opens: SolanaPolicies = { feePayerSpending: 'token_accounts' }

  async function opening(change: (step: Step) => Step = (step) => step): Promise<Step> {
    const wallet = createWallet().address
    return change(openTokenAccount(SELF, await associatedAddress(wallet, mint), wallet, mint))
  }

  test('reserves the rent of each, also of one that exists: its owner can close it before the block', async () => {
    const existing = openTokenAccount(SELF, loot, attacker.address, mint)
    const idempotent: Step = { ...existing, data: Uint8Array.from([1]) }
    const request = asked(alibi(), await opening(), idempotent)
    const answer = await stage.chain.prepare(request, accountWith(opens))
    expect(answer).toMatchObject({ kind: 'ok', value: { draft: { spends: 2n * RENT } } })
  })

  test('pays for none where users pay the fee: their price does not contain it', async () => {
    const account = accountWith({ ...opens, feePaymentStrategy: 'user' })
    const answer = await stage.chain.prepare(asked(alibi(), await opening()), account)
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'fee_payer_at_risk' } })
  })

  test.each<[string, (step: Step) => Step]>([
    ['moves the content of nested accounts', (step) => ({ ...step, data: Uint8Array.from([2]) })],
    ['names it twice', (step) => ({ ...step, accounts: [...step.accounts, { address: SELF }] })],
    [
      'names another program for the tokens',
      (step) => ({
        ...step,
        accounts: step.accounts.map((one) => (one.address === TOKEN_PROGRAM ? { address: OTHER } : one)),
      }),
    ],
    ['is of another program', (step) => ({ ...step, program: LOOKUP_TABLE_PROGRAM })],
  ])('does not sign what %s', async (_, change) => {
    expect(await refusalOf(asked(alibi(), await opening(change)), opens)).toBe('fee_payer_at_risk')
  })

  test('pays for nothing else in the same transaction', async () => {
    const steps = [await opening(), transfer(SELF, attacker.address, 1n)]
    expect(await refusalOf(asked(alibi(), ...steps), opens)).toBe('fee_payer_at_risk')
  })
})
