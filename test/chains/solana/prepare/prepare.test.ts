import { address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import { beforeEach, describe, expect, test } from 'vitest'
import { LOOKUP_TABLE_PROGRAM } from '../../../../simulators/solana/runtime/programs.ts'
import {
  advanceNonce,
  createTable,
  createWallet,
  extendTable,
  type Step,
  signContent,
  transfer,
  unitLimit,
  unitPrice,
} from '../../../../simulators/solana/wallet.ts'
import type { SolanaRequest } from '../../../../src/chains/solana/content.ts'
import { readBudget } from '../../../../src/chains/solana/prepare/fees.ts'
import { openTransaction } from '../../../../src/chains/solana/wire/message.ts'
import {
  AS_PAYER,
  accountWith,
  afterSpeedUpDelay,
  draftOf,
  instructionsOf,
  OTHER,
  requestOf,
  SELF,
  type Stage,
  sendOn,
  someAddress,
  startStage,
} from '../build.ts'
import { openNonceAccount } from '../nonces.ts'

/** The smallest instructions that there are: memos of one letter. */
const many = (count: number): Step[] =>
  Array.from({ length: count }, () => ({ program: MEMO_PROGRAM, accounts: [], data: Buffer.from('x') }))

const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

let stage: Stage

beforeEach(async () => {
  stage = await startStage()
})

const prepare = (request: SolanaRequest, policies = {}) => stage.chain.prepare(request, accountWith(policies))
const messageOf = ({ transaction }: { transaction: string }) => openTransaction(transaction).message

describe('what only the relayer signs', () => {
  test('gets a blockhash, compute units and a price, and is good for 150 blocks', async () => {
    stage.solana.market.recentPrice = 1_000n
    stage.solana.tick(150)
    const draft = draftOf(await prepare(instructionsOf(transfer(SELF, OTHER, 5n))))
    const budget = readBudget(messageOf(draft))
    // The transfer takes 150 units and the three instructions of the budget 150 each.
    expect(budget.unitLimit).toBe(900)
    expect(budget.unitPrice).toBe(1_500n)
    expect(draft).toMatchObject({ fee: 5_002n, unitPrice: 1_500n, spends: 5n })
    const confirmed = stage.solana.blocks.at(-2)
    expect(messageOf(draft).lifetimeToken).toBe(confirmed?.blockhash)
    expect(draft.expiresAt).toBe((confirmed?.height ?? 0n) + 151n)
    expect(stage.chain.cost(draft)).toBe(5_007n)
  })

  test.each([
    ['safeLow', 1_000n],
    ['average', 1_250n],
    ['fast', 1_500n],
    ['fastest', 2_000n],
  ] as const)('pays for the speed %s a unit price of %s', async (speed, unitPrice) => {
    stage.solana.market.recentPrice = 1_000n
    stage.solana.tick(200)
    const request = { ...instructionsOf(transfer(SELF, OTHER, 5n)), speed }
    expect(draftOf(await prepare(request)).unitPrice).toBe(unitPrice)
  })

  test('offers no more than max_allowed_fee_lamports, and says so', async () => {
    stage.solana.market.recentPrice = 1_000_000n
    stage.solana.tick(150)
    const answer = await prepare(instructionsOf(transfer(SELF, OTHER, 5n)), { maxFee: 5_090n })
    expect(draftOf(answer)).toMatchObject({ fee: 5_090n, unitPrice: 100_000n })
    expect(answer).toMatchObject({ value: { logs: [expect.stringContaining('max_allowed_fee_lamports')] } })
    expect(await prepare(instructionsOf(transfer(SELF, OTHER, 5n)), { maxFee: 4_999n })).toMatchObject({
      refusal: { code: 'fee_above_cap' },
    })
  })

  test('is never the same bytes twice', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => prepare(instructionsOf(transfer(SELF, OTHER, 5n)))),
    )
    expect(new Set(answers.map((answer) => draftOf(answer).transaction)).size).toBe(20)
  })

  test('gets another blockhash if it is prebuilt, and a budget only where it sets none', async () => {
    const stale = (...steps: Parameters<typeof signContent>[0]['steps']) =>
      requestOf({
        transaction: signContent({ signers: [AS_PAYER], blockhash: someAddress(9), steps }).base64,
      })
    const plain = draftOf(await prepare(stale(transfer(SELF, OTHER, 5n))))
    expect(messageOf(plain).lifetimeToken).not.toBe(someAddress(9))
    expect(messageOf(plain).instructions).toHaveLength(4)
    const own = stale(unitLimit(1_000), unitPrice(7_000_000n), transfer(SELF, OTHER, 5n))
    const kept = draftOf(await prepare(own))
    expect(readBudget(messageOf(kept))).toMatchObject({ unitLimit: 1_000, unitPrice: 7_000_000n })
    expect(kept.fee).toBe(12_000n)
  })

  test('is sent without a budget where none fits', async () => {
    const step = {
      ...transfer(SELF, OTHER, 5n),
      data: Buffer.concat([transfer(SELF, OTHER, 5n).data, Buffer.alloc(990)]),
    }
    const draft = draftOf(await prepare(instructionsOf(step)))
    expect(messageOf(draft).instructions).toHaveLength(1)
    const { signed } = await sendOn(stage.chain, instructionsOf(step))
    stage.solana.tick()
    expect(stage.solana.included(signed.hash)?.err).toBeNull()
  })

  test.each([
    [61, 3],
    [62, 2],
    [63, 1],
    [64, 0],
  ])('keeps to 64 instructions: of %i the budget gets %i', async (own, added) => {
    const request = instructionsOf(...many(own))
    expect(stage.chain.check(request, accountWith())).toBeUndefined()
    const message = messageOf(draftOf(await prepare(request)))
    expect(message.instructions).toHaveLength(own + added)
    expect(readBudget(message).loadedBytes === undefined).toBe(added === 0)
    const { signed } = await sendOn(stage.chain, request)
    stage.solana.tick()
    expect(stage.solana.included(signed.hash)?.err).toBeNull()
  })

  test.each([
    ['a part of the budget twice', [unitPrice(1n), unitPrice(2n)], 'duplicate instruction (1)'],
    [
      'what the budget does not know',
      [{ ...unitPrice(1n), data: Buffer.from([9]) }],
      'invalid instruction data',
    ],
    ['too many instructions', many(65), 'failed to sanitize'],
  ])('is refused when the node does not look at it: %s', async (_what, steps, phrase) => {
    expect(await prepare(instructionsOf(...steps))).toMatchObject({
      kind: 'refused',
      refusal: { code: 'invalid_request', detail: expect.stringContaining(phrase) },
    })
  })

  test('is refused when it would fail, with the reason', async () => {
    const [unknown, rich] = await Promise.all([
      prepare(instructionsOf({ ...transfer(SELF, OTHER, 1n), data: Buffer.from([99, 0, 0, 0]) })),
      prepare(instructionsOf(transfer(SELF, OTHER, 10n ** 12n))),
    ])
    expect(unknown).toMatchObject({
      refusal: { code: 'execution_reverted', detail: expect.stringContaining('in instruction 0') },
    })
    expect(rich).toMatchObject({ refusal: { code: 'insufficient_balance' } })
  })

  test('waits for money when its account does not exist', async () => {
    const poor = createWallet().address
    const account = { address: poor, policies: {} }
    const answer = await stage.chain.prepare(instructionsOf(transfer(poor, OTHER, 1n)), account)
    expect(answer).toMatchObject({ refusal: { code: 'insufficient_balance' } })
  })
})

describe('what others sign too', () => {
  const friend = createWallet()

  beforeEach(() => stage.solana.airdrop(friend.address, 10n ** 9n))

  test('keeps every byte, and expires with the newest blockhash of the node and a margin at the latest', async () => {
    const request = stage.prebuilt([transfer(friend.address, OTHER, 5n)], friend)
    const draft = draftOf(await prepare(request))
    expect(draft.transaction).toBe(request.transaction)
    expect(draft.expiresAt).toBe(stage.solana.blockHeight() + 151n + 32n)
    expect(stage.chain.expiry.reSignable(request)).toBe(false)
  })

  test('does not expire some blocks early because one endpoint is late', async () => {
    const both = [stage.solana.replica({ behind: 3 }), stage.solana.url]
    stage.solana.tick(5)
    const request = stage.prebuilt([transfer(friend.address, OTHER, 5n)], friend)
    stage.solana.tick(3)
    for (const urls of [both, both.toReversed()]) {
      const draft = draftOf(await stage.chainAt(...urls).prepare(request, accountWith()))
      // The margin is for a newest block that was told by an older bank than the one that knows the blockhash.
      expect(draft.expiresAt).toBe(stage.solana.blockHeight() + 151n + 32n)
    }
  })

  test('waits while its blockhash is too new for the node', async () => {
    const late = stage.chainAt(stage.solana.replica({ behind: 5 }))
    const request = stage.prebuilt([transfer(friend.address, OTHER, 5n)], friend)
    expect(await late.prepare(request, accountWith())).toMatchObject({ kind: 'unknown' })
    stage.solana.tick(5)
    expect(await late.prepare(request, accountWith())).toMatchObject({ kind: 'ok' })
  })

  test('waits while its durable nonce is too new for the node', async () => {
    const late = stage.chainAt(stage.solana.replica({ behind: 8 }))
    const nonce = await openNonceAccount(stage, friend.address)
    const request = stage.durable(nonce, [transfer(friend.address, OTHER, 5n)], friend)
    expect(await late.prepare(request, accountWith())).toMatchObject({ kind: 'unknown' })
    stage.solana.tick(8)
    expect(draftOf(await late.prepare(request, accountWith()))).toMatchObject({ nonceAccount: nonce })
  })

  test('lives by its blockhash where that is one, whatever it advances first', async () => {
    const nonce = await openNonceAccount(stage, friend.address)
    stage.solana.tick(3)
    const steps = [advanceNonce(nonce, friend.address), transfer(friend.address, OTHER, 5n)]
    const request = stage.prebuilt(steps, friend)
    const { expiresAt, nonceAccount } = draftOf(await prepare(request))
    expect(nonceAccount).toBeUndefined()
    expect(expiresAt).toBe(stage.solana.blockHeight() + 151n + 32n)
    const { signed } = await sendOn(stage.chain, request)
    stage.solana.tick()
    expect(stage.solana.included(signed.hash)?.err).toBeNull()
  })

  test('is refused when its blockhash has expired', async () => {
    const request = stage.prebuilt([transfer(friend.address, OTHER, 5n)], friend)
    stage.solana.tick(151)
    expect(await afterSpeedUpDelay(stage, () => prepare(request))).toMatchObject({
      refusal: { code: 'invalid_request', detail: expect.stringContaining('does not know its blockhash') },
    })
  })

  test('is refused when it was included already', async () => {
    const request = stage.prebuilt([transfer(friend.address, OTHER, 5n)], friend)
    await sendOn(stage.chain, request)
    stage.solana.tick(3)
    expect(await prepare(request)).toMatchObject({ refusal: { code: 'already_accepted' } })
  })
})

describe('what takes addresses from a table', () => {
  test('is checked by the rules with those addresses, and executed', async () => {
    const slot = stage.solana.slot()
    stage.solana.tick()
    const le = Buffer.alloc(8)
    le.writeBigUInt64LE(slot)
    const [table, bump] = await getProgramDerivedAddress({
      programAddress: LOOKUP_TABLE_PROGRAM,
      seeds: [getAddressEncoder().encode(SELF), le],
    })
    await sendOn(
      stage.chain,
      instructionsOf(createTable(table, SELF, slot, bump), extendTable(table, SELF, [OTHER])),
    )
    stage.solana.tick(5)
    const versioned = (tables: readonly (typeof OTHER)[]) =>
      requestOf({
        transaction: signContent({
          signers: [AS_PAYER],
          blockhash: someAddress(9),
          steps: [transfer(SELF, tables.at(-1) ?? OTHER, 5n)],
          lookups: [{ table, writable: tables.slice(-1) }],
          tables: { [table]: tables },
        }).base64,
      })
    const request = versioned([OTHER])
    // The account does not stand in the transaction.
    expect(stage.chain.check(request, accountWith({ disallowedAccounts: [OTHER] }))).toBeUndefined()
    expect(await prepare(request, { disallowedAccounts: [OTHER] })).toMatchObject({
      refusal: { code: 'policy_violation', detail: expect.stringContaining(OTHER) },
    })
    expect(await afterSpeedUpDelay(stage, () => prepare(versioned([OTHER, someAddress(4)])))).toMatchObject({
      refusal: { detail: expect.stringContaining('lacks some of the addresses') },
    })
    const before = stage.solana.account(OTHER)?.lamports ?? 0n
    const { signed } = await sendOn(stage.chain, request)
    stage.solana.tick()
    expect(stage.solana.included(signed.hash)?.err).toBeNull()
    expect(stage.solana.account(OTHER)?.lamports).toBe(before + 5n)
  })

  test('is refused when that is none', async () => {
    const request = requestOf({
      transaction: signContent({
        signers: [AS_PAYER],
        blockhash: someAddress(9),
        steps: [transfer(SELF, OTHER, 5n)],
        lookups: [{ table: someAddress(3), writable: [OTHER] }],
        tables: { [someAddress(3)]: [OTHER] },
      }).base64,
    })
    expect(await afterSpeedUpDelay(stage, () => prepare(request))).toMatchObject({
      refusal: { detail: `transaction: ${someAddress(3)} is not an address lookup table.` },
    })
  })
})
