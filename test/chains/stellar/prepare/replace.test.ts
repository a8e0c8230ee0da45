import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Prepared } from '../../../../src/chains/attempt.ts'
import type {
  LedgerSequence,
  StellarDraft,
  StellarRequest,
  UnixSeconds,
} from '../../../../src/chains/stellar/content.ts'
import { closeEnvelope, openEnvelope, withFields } from '../../../../src/chains/stellar/model/envelope.ts'
import { toMuxedAccount } from '../../../../src/chains/stellar/model/strkey.ts'
import type { StellarAttempt } from '../../../../src/chains/stellar/types.ts'
import {
  accountWith,
  addressOf,
  attemptOf,
  known,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signerOf,
  signingContextAt,
} from '../build.ts'
import { type Stage, setStage, XLM } from '../stage.ts'

let stage: Stage

beforeEach(async () => {
  stage = await setStage()
})

afterEach(() => stage.ledger.stop())

/** An attempt that lies in the queue. */
async function queued(request: StellarRequest, change: Partial<StellarDraft> = {}): Promise<StellarAttempt> {
  const nonce = await stage.nonce()
  const draft = { ...(await stage.prepare(request)), ...change }
  const signed = await stage.chain.sign(draft, signingContextAt(nonce))
  expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
  return attemptOf(draft, { nonce, signed })
}

async function replacing(request: StellarRequest, ...attempts: StellarAttempt[]) {
  const answer = await stage.chain.replace(request, attempts, accountWith())
  if (answer.kind !== 'ok' && answer.kind !== 'refused') throw new Error(answer.kind)
  return answer
}

const taken = (answer: { readonly kind: string; readonly value?: Prepared<StellarDraft> }) =>
  known(answer).draft

const pay = (amount: bigint) => requestOf({ operations: [paymentOf(amount)] })

describe('a replacement', () => {
  test('of a replacement bids ten times as much again', async () => {
    const first = await queued(pay(1n))
    const second = taken(await replacing(pay(2n), first))
    const sent = await stage.chain.sign(second, signingContextAt(first.nonce ?? 0n))
    expect(await stage.chain.broadcast([sent.raw])).toEqual([{ kind: 'accepted' }])
    const third = taken(
      await replacing(pay(3n), first, attemptOf(second, { nonce: first.nonce ?? 0n, signed: sent })),
    )
    expect([second.feePerOperation, third.feePerOperation]).toEqual([1_000n, 10_000n])
    const last = await stage.chain.sign(third, signingContextAt(first.nonce ?? 0n))
    expect(await stage.chain.broadcast([last.raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
    expect(stage.ledger.account(OTHER)?.balance).toBe(100n * XLM + 3n)
  })

  test('that a node finds too cheap says nothing of the market', async () => {
    const { feePerOperation } = await stage.prepare(pay(1n))
    const first = await queued(pay(1n))
    const cheap = { ...first.draft, bumped: true, feePerOperation: feePerOperation * 10n - 1n }
    const { raw } = await stage.chain.sign(cheap, signingContextAt(first.nonce ?? 0n))
    expect(await stage.chain.broadcast([raw], [true])).toMatchObject([
      { kind: 'underpriced', minimum: 2_000n },
    ])
    expect(await stage.prepare(pay(1n))).toMatchObject({ feePerOperation })
    expect(await stage.chain.broadcast([raw], [false])).toMatchObject([{ kind: 'underpriced' }])
    expect(await stage.prepare(pay(1n))).toMatchObject({ feePerOperation: 1_000n })
  })

  test('beyond max_fee is refused with the one that would do', async () => {
    const first = await queued(pay(1n))
    const short = await replacing({ ...pay(2n), maxFee: 1_999n }, first)
    expect(short).toMatchObject({
      kind: 'refused',
      refusal: {
        code: 'replacement_underpriced',
        detail: expect.stringMatching(/^max_fee: at least 2000 stroops/),
      },
    })
    expect((await replacing({ ...pay(2n), maxFee: 2_000n }, first)).kind).toBe('ok')
  })

  test('may have more operations: the rate counts, not the sum', async () => {
    const first = await queued(pay(1n))
    const draft = taken(
      await replacing(requestOf({ operations: [paymentOf(1n), paymentOf(2n), paymentOf(3n)] }), first),
    )
    const { raw } = await stage.chain.sign(draft, signingContextAt(first.nonce ?? 0n))
    expect(await stage.chain.broadcast([raw])).toEqual([{ kind: 'accepted' }])
  })

  test('of what is in no queue any more is a new one', async () => {
    const first = { ...(await queued(pay(1n))), outcome: 'expired' as const }
    expect(taken(await replacing(pay(2n), first))).toMatchObject({ bumped: false, feePerOperation: 100n })
  })

  test('by the no-op takes everything back', async () => {
    const first = await queued(pay(50n * XLM))
    const draft = taken(await replacing(stage.chain.noop(accountWith()), first))
    const { raw } = await stage.chain.sign(draft, signingContextAt(first.nonce ?? 0n))
    expect(await stage.chain.broadcast([raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
    expect(stage.ledger.account(SELF)?.balance).toBe(100n * XLM - 200n)
    expect(await stage.nonce()).toBe((first.nonce ?? 0n) + 1n)
  })
})

describe('a transaction that a third party has signed', () => {
  /** One lumen from them to the relayer, signed by them or a third party. */
  async function theirs(nonce: bigint, by = 'other'): Promise<StellarRequest> {
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(XLM, SELF)] }))
    const { tx } = openEnvelope(draft.envelope)
    const envelope = closeEnvelope(withFields(tx, { sourceAccount: toMuxedAccount(OTHER) }))
    const account = { address: OTHER, signer: signerOf(by) }
    const { raw } = await stage.chain.sign({ ...draft, envelope }, { sourceAccount: account, nonce, account })
    return requestOf({ transactionXdr: Buffer.from(raw).toString('base64'), feeBump: true })
  }

  const signingContextOf = (nonce: bigint) => ({
    ...signingContextAt(0n),
    nonce,
    sourceAccount: { address: OTHER, signer: undefined },
  })

  test('is paid by the relayer, and acts for regardless of who signed it', async () => {
    const nonce = await stage.nonce(OTHER)
    const draft = await stage.prepare(await theirs(nonce))
    expect(draft).toMatchObject({ externallySigned: true, bumped: true, spends: 0n })
    const signed = await stage.chain.sign(draft, signingContextOf(nonce))
    expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
    expect(await stage.chain.receipts([signed.hash])).toMatchObject([
      { kind: 'included', receipt: { success: true } },
    ])
    expect(stage.ledger.account(OTHER)?.balance).toBe(99n * XLM)
    expect(stage.ledger.account(SELF)?.balance).toBe(101n * XLM - 200n)
  })

  test('with a number that is used, or that no signer of the account has signed, is refused', async () => {
    const nonce = await stage.nonce(OTHER)
    const used = await stage.chain.prepare(await theirs(nonce - 1n), accountWith())
    expect(used).toMatchObject({ kind: 'refused', refusal: { detail: expect.stringContaining('is used') } })
    const other = await stage.chain.prepare(await theirs(nonce, 'third'), accountWith())
    expect(other).toMatchObject({
      kind: 'refused',
      refusal: { detail: expect.stringContaining('none of its signatures is by a signer of its source') },
    })
    await addSigner('third')
    const next = await stage.nonce(OTHER)
    expect((await stage.chain.prepare(await theirs(next, 'third'), accountWith())).kind).toBe('ok')
  })

  describe('that cannot exclude the new content', () => {
    const attempted = async (change: Partial<StellarDraft>) => {
      const nonce = await stage.nonce(OTHER)
      const { expiresAt: _time, ...unbounded } = await stage.prepare(await theirs(nonce))
      const draft = { ...unbounded, ...change }
      const signed = await stage.chain.sign(draft, signingContextOf(nonce))
      return attemptOf(draft, { sourceAccount: OTHER, nonce, signed })
    }
    const timed = () => attempted({ expiresAt: 4_000_000_000n as UnixSeconds })
    const sooner = () => attempted({ expiresAt: 3_999_999_999n as UnixSeconds })
    const bounded = () => attempted({ maxLedger: 77n as LedgerSequence })
    const lower = () => attempted({ maxLedger: 76n as LedgerSequence })

    test.each([
      ['of a time', [timed], 'the time bounds of the earlier one have passed (2096-10-02T07:06:40.000Z)'],
      ['of a ledger', [bounded], 'ledger 77 makes the earlier one too late'],
      [
        'of the last of several',
        [sooner, timed, sooner, lower, bounded, lower],
        'the time bounds of the earlier one have passed (2096-10-02T07:06:40.000Z) and ledger 77 makes the earlier one too late',
      ],
      [
        'of one attempt a time and of another a ledger',
        [timed, bounded],
        'the time bounds of the earlier one have passed (2096-10-02T07:06:40.000Z) and ledger 77 makes the earlier one too late',
      ],
    ])('names the end %s', async (_of, makers, end) => {
      const attempts: StellarAttempt[] = []
      for (const make of makers) attempts.push(await make())
      expect(await stage.chain.replace(pay(1n), attempts, accountWith())).toMatchObject({
        kind: 'after_expiry',
        detail: `Both versions could be included, so the new one is sent when ${end} and the ledger has proved that it was not included.`,
      })
    })

    test.each([
      ['with the last of them', 4_000_000_000_000, 'refused'],
      ['after the last of them', 4_000_000_000_001, 'after_expiry'],
    ])('content that ends %s: %s', async (_, end, kind) => {
      const attempts = [await sooner(), await timed(), await sooner()]
      const request = requestOf({ operations: [paymentOf(1n)], validUntil: new Date(end) })
      expect(await stage.chain.replace(request, attempts, accountWith())).toMatchObject({ kind })
    })

    // Another node may have accepted the bytes that one refused.
    test.each(['signed', 'broadcast', 'refused'] as const)('waits for what is %s', async (outcome) => {
      const attempt = { ...(await timed()), outcome }
      const answer = await stage.chain.replace(pay(1n), [attempt], accountWith())
      expect(answer).toMatchObject({ kind: 'after_expiry' })
      const own = { ...(await queued(pay(1n), { expiresAt: 1_000n as UnixSeconds })), outcome }
      const theirsNext = await theirs((await stage.nonce(OTHER)) + 1n)
      expect(await stage.chain.replace(theirsNext, [own], accountWith())).toMatchObject({
        kind: 'after_expiry',
      })
    })

    test.each(['expired', 'superseded'] as const)('waits for nothing that is %s', async (outcome) => {
      const attempt = { ...(await timed()), outcome }
      expect(await stage.chain.replace(pay(1n), [attempt], accountWith())).toMatchObject({ kind: 'ok' })
    })

    test('a cancellation sends nothing; the same operation by a caller is content that is sent', async () => {
      const attempt = await timed()
      const noop = stage.chain.noop(accountWith())
      expect(await stage.chain.replace(noop, [attempt], accountWith())).toEqual({
        kind: 'after_expiry',
        detail: expect.stringContaining(
          'The signed version may still be included until the time bounds of it',
        ),
      })
      const own = requestOf({ operations: [{ type: 'bump_sequence', bump_to: 0n }] })
      expect(await stage.chain.replace(own, [attempt], accountWith())).toMatchObject({
        kind: 'after_expiry',
        detail: expect.stringContaining('the new one is sent'),
        cost: expect.any(BigInt),
      })
    })
  })

  /** The other account lets a further key sign for it. */
  async function addSigner(name: string): Promise<void> {
    const operation = { type: 'set_options', signer: { key: addressOf(name), weight: 1 } } as const
    const draft = await stage.prepare(requestOf({ operations: [operation] }))
    const { tx } = openEnvelope(draft.envelope)
    const envelope = closeEnvelope(withFields(tx, { sourceAccount: toMuxedAccount(OTHER) }))
    const nonce = await stage.nonce(OTHER)
    const account = { address: OTHER, signer: signerOf('other') }
    const { raw } = await stage.chain.sign({ ...draft, envelope }, { sourceAccount: account, nonce, account })
    expect(await stage.chain.broadcast([raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.close()
  }

  test('is raised as it stands, and replaced by other content when it has expired', async () => {
    const nonce = await stage.nonce(OTHER)
    const request = await theirs(nonce)
    const draft = await stage.prepare(request)
    const signed = await stage.chain.sign(draft, signingContextOf(nonce))
    await stage.chain.broadcast([signed.raw])
    const attempt = attemptOf(draft, { sourceAccount: OTHER, nonce, signed })
    const raised = taken(await replacing(request, attempt))
    const again = await stage.chain.sign(raised, signingContextOf(nonce))
    expect(await stage.chain.broadcast([again.raw])).toEqual([{ kind: 'accepted' }])
    const end = new Date(Number(draft.expiresAt) * 1_000).toISOString()
    expect(await stage.chain.replace(pay(1n), [attempt], accountWith())).toMatchObject({
      kind: 'after_expiry',
      detail: expect.stringContaining(end),
      cost: 201n,
    })
    // Its own bounds end when the earlier one can no longer be included, so it could never be sent.
    expect(await replacing(await theirs(nonce + 1n), attempt)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'invalid_request', detail: expect.stringContaining(`an end after ${end}`) },
    })
  })
})

describe('a full network', () => {
  test('is followed by the bid, and bounded by max_fee', async () => {
    stage.ledger.setCapacity(1)
    for (const name of ['a', 'b', 'c', 'd']) {
      await crowd(`${name} 1`)
      await crowd(`${name} 2`)
      stage.ledger.close({ ledgers: 2 })
    }
    const draft = await stage.prepare(pay(1n))
    expect(draft.feePerOperation).toBeGreaterThan(100n)
    const bounded = await stage.chain.prepare({ ...pay(1n), maxFee: 210n }, accountWith())
    expect(taken(bounded as { kind: string; value?: Prepared<StellarDraft> }).feePerOperation).toBe(105n)
    const price = known(await stage.chain.comparePrice(draft, 'fast', accountWith()))
    const feeCap = draft.maxFee / 2n
    expect(price).toEqual({ bid: draft.feePerOperation, market: draft.feePerOperation, feeCap })
  })

  /** Fills the queue with an account that pays 5000 stroops for an operation. */
  async function crowd(name: string): Promise<void> {
    const signer = signerOf(name)
    const account = { address: addressOf(name), signer }
    stage.ledger.fund(account.address, 10n * XLM)
    const { tx } = openEnvelope((await stage.prepare(pay(1n))).envelope)
    const envelope = closeEnvelope(withFields(tx, { sourceAccount: toMuxedAccount(account.address) }))
    const draft = { ...(await stage.prepare(pay(1n))), envelope, feePerOperation: 5_000n }
    const nonce = await stage.nonce(account.address)
    const { raw } = await stage.chain.sign(draft, { sourceAccount: account, nonce, account })
    expect(await stage.chain.broadcast([raw])).toEqual([{ kind: 'accepted' }])
  }
})
