import { Account, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { wrapAs } from '../../../../simulators/stellar/transaction/wrap.ts'
import type { StellarAttempt } from '../../../../src/chains/stellar/types.ts'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import { keypairOf, submitTo } from '../../../support/stellar-scenario.ts'
import { startBalancer } from '../balancer.ts'
import {
  attemptOf,
  channelSigningContextAt,
  known,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signingContextAt,
} from '../build.ts'
import { type Stage, setStage, XLM } from '../stage.ts'

describe('the proof of inclusion', () => {
  const THIRD_PARTY = keypairOf('third party')

  let stage: Stage

  beforeEach(async () => {
    stage = await setStage({ retentionLedgers: 10 })
    stage.ledger.fund(THIRD_PARTY.publicKey(), 100n * XLM)
    stage.ledger.close()
  })

  afterEach(() => stage.ledger.stop())

  /** Signed and not sent, in a fee bump when `bumped`. */
  async function signed({
    bumped = false,
    nonce = undefined as bigint | undefined,
  } = {}): Promise<StellarAttempt> {
    const number = nonce ?? (await stage.nonce())
    const draft = { ...(await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))), bumped }
    const { time = new Date(0) } = known(await stage.chain.head())
    return attemptOf(draft, {
      nonce: number,
      signed: await stage.chain.sign(draft, signingContextAt(number)),
      signedAt: time,
    })
  }

  const envelopeOf = ({ signed: { raw } }: StellarAttempt) => Buffer.from(raw).toString('base64')

  async function send(attempt: StellarAttempt): Promise<void> {
    expect(await stage.chain.broadcast([attempt.signed.raw])).toMatchObject([{ kind: 'accepted' }])
  }

  async function newest(): Promise<bigint> {
    return known(await stage.chain.head()).number
  }

  /** Something else takes the number. */
  async function useElsewhere(attempt: StellarAttempt): Promise<void> {
    const other = await stage.prepare(requestOf({ operations: [paymentOf(9n)] }))
    const { raw } = await stage.chain.sign(other, signingContextAt(attempt.nonce ?? 0n))
    expect(await stage.chain.broadcast([raw])).toMatchObject([{ kind: 'accepted' }])
    stage.ledger.close()
  }

  describe('an attempt in a fee bump', () => {
    test('is included when a third party has wrapped its inner transaction', async () => {
      const attempt = await signed({ bumped: true })
      const wrapped = wrapAs(stage.ledger, THIRD_PARTY, envelopeOf(attempt), 200_000)
      expect(await submitTo(stage.ledger, wrapped.envelope)).toBe('PENDING')
      stage.ledger.close()
      const proof = await stage.chain.proveInclusion([attempt], { asOf: await newest() })
      expect(proof).toMatchObject({
        kind: 'included',
        number: 1,
        receipt: {
          success: true,
          result: { appliedHash: wrapped.hash, feeAccount: THIRD_PARTY.publicKey() },
        },
      })
    })

    test('of several with the same inner transaction the one whose bytes the ledger holds is named', async () => {
      const cheap = await signed({ bumped: true })
      const raised = async (number: number, times: bigint) => {
        const draft = { ...cheap.draft, feePerOperation: cheap.draft.feePerOperation * times }
        const nonce = cheap.nonce ?? 0n
        return attemptOf(draft, {
          number,
          nonce,
          signed: await stage.chain.sign(draft, signingContextAt(nonce)),
        })
      }
      const [middle, dear] = [await raised(2, 10n), await raised(3, 100n)]
      expect(new Set([cheap, middle, dear].map((one) => one.signed.innerHash)).size).toBe(1)
      await send(middle)
      stage.ledger.close()
      const proof = await stage.chain.proveInclusion([cheap, middle, dear], { asOf: await newest() })
      expect(proof).toMatchObject({
        kind: 'included',
        number: 2,
        receipt: { result: { appliedHash: middle.signed.hash, feeAccount: SELF } },
      })
    })

    test('of several that a third party has wrapped the newest is named', async () => {
      const first = await signed({ bumped: true })
      const second = { ...first, number: 2, signed: { ...first.signed, hash: 'ab'.repeat(32) } }
      const wrapped = wrapAs(stage.ledger, THIRD_PARTY, envelopeOf(first), 200_000)
      expect(await submitTo(stage.ledger, wrapped.envelope)).toBe('PENDING')
      stage.ledger.close()
      const proof = await stage.chain.proveInclusion([first, second], { asOf: await newest() })
      expect(proof).toMatchObject({ kind: 'included', number: 2 })
    })
  })

  test('a plain transaction that a third party wraps is included under its own hash', async () => {
    const attempt = await signed()
    expect(attempt.signed).not.toHaveProperty('innerHash')
    const wrapped = wrapAs(stage.ledger, THIRD_PARTY, envelopeOf(attempt), 200_000)
    expect(await submitTo(stage.ledger, wrapped.envelope)).toBe('PENDING')
    stage.ledger.close()
    expect(await stage.chain.receipts([attempt.signed.hash])).toMatchObject([
      {
        kind: 'included',
        receipt: { result: { appliedHash: wrapped.hash, feeAccount: THIRD_PARTY.publicKey() } },
      },
    ])
    expect(await stage.chain.proveInclusion([attempt], { asOf: await newest() })).toMatchObject({
      kind: 'included',
    })
  })

  describe('the sequence number as proof', () => {
    test('proves absence while it was not reached, also when no endpoint remembers so far back', async () => {
      const attempt = await signed()
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chain.proveInclusion([attempt], terms)).toEqual({ kind: 'absent' })
    })

    test('is not told by an endpoint that is behind', async () => {
      const attempt = await signed()
      stage.ledger.close(2)
      const behind = stage.chainAt(stage.ledger.replica({ behind: 1 }))
      const asOf = await newest()
      expect(await behind.proveInclusion([attempt], { asOf })).toMatchObject({ kind: 'unknown' })
      expect(await behind.proveInclusion([attempt], { asOf: asOf - 1n })).toEqual({ kind: 'absent' })
    })

    test('counts as of the ledger that its own reply names, anyone who answers behind the url', async () => {
      const attempt = await signed()
      stage.ledger.close(2)
      const mixed = await startBalancer([stage.ledger.url, stage.ledger.replica({ behind: 1 })])
      const proof = await stage.chainAt(mixed.url).proveInclusion([attempt], { asOf: await newest() })
      expect(proof).toMatchObject({ kind: 'unknown' })
      expect(proof).not.toHaveProperty('unprovable')
      await mixed.stop()
    })

    test('without such an answer nothing is proved, whatever is not found', async () => {
      const attempt = await signed()
      stage.ledger.close()
      stage.ledger.setNodeFault('core_gone')
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chain.receipts([attempt.signed.hash], terms)).toEqual([{ kind: 'none' }])
      const proof = await stage.chain.proveInclusion([attempt], terms)
      expect(proof).toMatchObject({ kind: 'unknown', detail: expect.stringContaining(SELF) })
      expect(proof).not.toHaveProperty('unprovable')
    })

    test('an endpoint that is dead could know the transaction, and one that holds it decides', async () => {
      const attempt = await signed()
      stage.ledger.close()
      const dead = 'http://127.0.0.1:9'
      const pair = stage.chainAt(dead, stage.ledger.url)
      expect(await pair.proveInclusion([attempt], { asOf: await newest() })).toMatchObject({
        kind: 'unknown',
        detail: expect.stringContaining('Not every endpoint returned'),
      })
      const both = stage.chainAt(stage.ledger.url, stage.ledger.replica({ behind: 0 }))
      expect(await both.proveInclusion([attempt], { asOf: await newest() })).toEqual({ kind: 'absent' })
      await send(attempt)
      stage.ledger.close()
      expect(await pair.proveInclusion([attempt], { asOf: await newest() })).toMatchObject({
        kind: 'included',
      })
      // One that is behind denies, and one that is not even asked for the height that counts has it.
      const late = stage.chainAt(stage.ledger.replica({ behind: 1 }), stage.ledger.url)
      expect(await late.proveInclusion([attempt], { asOf: await newest() })).toMatchObject({
        kind: 'included',
      })
    })

    test('of an account that was merged proves nothing, and its history does', async () => {
      const source = keypairOf('channel')
      stage.ledger.fund(source.publicKey(), 10n * XLM)
      stage.ledger.close()
      const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
      const nonce = await stage.nonce(source.publicKey())
      const attempt = attemptOf(draft, {
        sourceAccount: source.publicKey(),
        nonce: nonce + 1n,
        signed: await stage.chain.sign(draft, channelSigningContextAt(nonce + 1n)),
        signedAt: known(await stage.chain.head()).time ?? new Date(0),
      })
      await mergeAway('channel', nonce)
      expect(stage.ledger.account(source.publicKey())).toBeUndefined()
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chain.proveInclusion([attempt], terms)).toEqual({ kind: 'absent' })
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      expect(await stage.chain.proveInclusion([attempt], { ...terms, asOf: await newest() })).toMatchObject({
        kind: 'unknown',
        unprovable: true,
        detail: expect.stringContaining('gone'),
      })
    })
  })

  describe('a sequence number that was used', () => {
    test('by something else is proved by the history of every endpoint', async () => {
      const attempt = await signed()
      await useElsewhere(attempt)
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chain.proveInclusion([attempt], terms)).toEqual({ kind: 'absent' })
      const withSilent = stage.chainAt(stage.ledger.url, 'http://127.0.0.1:9')
      expect(await withSilent.proveInclusion([attempt], terms)).toMatchObject({ kind: 'unknown' })
    })

    test('is left to an operator when no endpoint has the history any more', async () => {
      const attempt = await signed({ bumped: true })
      await useElsewhere(attempt)
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      const terms = { asOf: await newest(), since: attempt.signedAt }
      const proof = await stage.chain.proveInclusion([attempt], terms)
      expect(proof).toMatchObject({ kind: 'unknown', unprovable: true })
      const { detail } = proof as { detail: string }
      expect(detail).toContain(attempt.signed.innerHash)
      expect(detail).toContain(attempt.signedAt.toISOString())
      expect(detail).toContain(`${attempt.nonce}`)
    })

    test('is not left to an operator as long as an endpoint does not answer: it may remember', async () => {
      const attempt = await signed()
      await useElsewhere(attempt)
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      const terms = { asOf: await newest(), since: attempt.signedAt }
      const pair = stage.chainAt(stage.ledger.url, 'http://127.0.0.1:9')
      for (const _round of [1, 2]) {
        const proof = await pair.proveInclusion([attempt], terms)
        expect(proof).toMatchObject({ kind: 'unknown' })
        expect(proof).not.toHaveProperty('unprovable')
      }
    })

    test('is looked for twice, because a ledger may close between the search and the reply', async () => {
      const attempt = await signed()
      await send(attempt)
      stage.ledger.close()
      stage.ledger.tearReads(1)
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chain.proveInclusion([attempt], terms)).toMatchObject({ kind: 'included' })
    })

    test.each([
      ['both times', false, 'absent'],
      ['once, and is silent then', true, 'unknown'],
    ])('that its endpoint denies %s: %s', async (_, isSilent, kind) => {
      const attempt = await signed()
      await useElsewhere(attempt)
      const node = await startFaultyNode(stage.ledger.url)
      onTestFinished(() => node.stop())
      // Only the first question is also about accounts.
      let isSecond = false
      node.fault = (methods) => {
        if (isSecond && isSilent) return 'http_500'
        isSecond ||= methods.includes('getLedgerEntries')
        return 'pass'
      }
      const terms = { asOf: await newest(), since: attempt.signedAt }
      expect(await stage.chainAt(node.url).proveInclusion([attempt], terms)).toMatchObject({ kind })
    })

    test('is proved for what is not proved yet; what was proved before may be forgotten', async () => {
      const first = await signed()
      await useElsewhere(first)
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      const second = { ...(await signed()), number: 2 }
      stage.ledger.close({ ledgers: 30, seconds: 60 })
      const attempts = [{ ...first, outcome: 'superseded' as const }, second]
      const terms = { asOf: await newest(), since: second.signedAt }
      expect(await stage.chain.proveInclusion(attempts, terms)).toEqual({ kind: 'absent' })
    })
  })

  /** The account pays everything to another one and ends. */
  async function mergeAway(name: string, nonce: bigint): Promise<void> {
    const pair = keypairOf(name)
    const transaction = new TransactionBuilder(new Account(pair.publicKey(), String(nonce - 1n)), {
      fee: '100',
      networkPassphrase: stage.ledger.passphrase,
    })
      .addOperation(Operation.accountMerge({ destination: OTHER }))
      .setTimeout(300)
      .build()
    transaction.sign(pair)
    expect(await submitTo(stage.ledger, transaction.toXDR())).toBe('PENDING')
    stage.ledger.close()
  }
})

describe('receipts', () => {
  let stage: Stage

  beforeEach(async () => {
    stage = await setStage({ retentionLedgers: 10 })
  })

  afterEach(() => stage.ledger.stop())

  const NEVER_SENT = 'ab'.repeat(32)

  describe('unknown is never none (I6)', () => {
    test('a node that is behind does not know', async () => {
      const hash = await stage.run(requestOf({ operations: [paymentOf(1n)] }))
      const behind = stage.chainAt(stage.ledger.replica({ behind: 1 }))
      const { number } = known(await stage.chain.head())
      expect(await behind.receipts([hash], { asOf: number })).toEqual([{ kind: 'unknown' }])
      expect(await behind.receipts([hash], { asOf: number - 1n })).toEqual([{ kind: 'none' }])
      expect(await behind.sequencing.nonces([SELF], { asOf: number })).toMatchObject([{ kind: 'unknown' }])
    })

    test('of several nodes behind one url it is the answering one that has to be far enough', async () => {
      const hash = await stage.run(requestOf({ operations: [paymentOf(1n)] }))
      const { number } = known(await stage.chain.head())
      // The first question is for the height: the newest node tells it, and the old one answers the rest.
      const mixed = await startBalancer([stage.ledger.url, stage.ledger.replica({ behind: 1 })])
      const chain = stage.chainAt(mixed.url)
      expect(await chain.receipts([hash], { asOf: number })).toEqual([{ kind: 'unknown' }])
      expect(await chain.sequencing.nonces([SELF], { asOf: number })).toMatchObject([{ kind: 'unknown' }])
      await mixed.stop()
    })

    test('of two nodes the one that is far enough answers, whichever is asked first', async () => {
      const hash = await stage.run(requestOf({ operations: [paymentOf(1n)] }))
      const both = stage.chainAt(stage.ledger.replica({ behind: 1 }), stage.ledger.url)
      const { number } = known(await stage.chain.head())
      const [receipt, other] = await both.receipts([hash, NEVER_SENT], { asOf: number })
      expect(receipt).toMatchObject({ kind: 'included', receipt: { blockNumber: number } })
      expect(other).toEqual({ kind: 'none' })
    })

    test('what a node no longer remembers it cannot deny', async () => {
      stage.ledger.close()
      const { time: sentAt = new Date(0) } = known(await stage.chain.head())
      const hash = await stage.run(requestOf({ operations: [paymentOf(1n)] }))
      expect(await stage.chain.receipts([hash, NEVER_SENT], { since: sentAt })).toMatchObject([
        { kind: 'included' },
        { kind: 'none' },
      ])
      stage.ledger.close({ ledgers: 20, seconds: 60 })
      const { number } = known(await stage.chain.head())
      const since = { asOf: number, since: sentAt }
      expect(await stage.chain.receipts([hash], since)).toEqual([{ kind: 'unknown' }])
      expect(await stage.chain.receipts([hash], { asOf: number })).toEqual([{ kind: 'none' }])
    })

    test('a node that cannot be reached says nothing', async () => {
      const nobody = stage.chainAt('http://127.0.0.1:9')
      expect(await nobody.receipts([NEVER_SENT])).toEqual([{ kind: 'unknown' }])
      expect(await nobody.sequencing.nonces([SELF])).toMatchObject([{ kind: 'unknown' }])
      expect(await nobody.head()).toMatchObject({ kind: 'unknown' })
      expect(await nobody.balance(SELF)).toMatchObject({ kind: 'unknown' })
      expect(await nobody.broadcast([new Uint8Array([1])])).toMatchObject([{ kind: 'unknown' }])
      expect(await nobody.verify()).toMatchObject({ kind: 'unknown' })
      expect(
        await nobody.prepare(requestOf({ operations: [paymentOf(1n)] }), { address: SELF, policies: {} }),
      ).toMatchObject({ kind: 'unknown' })
    })
  })

  describe('sequence numbers', () => {
    test('an account that the ledger does not have is refused, not numbered', async () => {
      const missing = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
      const [self, other, nobody] = await stage.chain.sequencing.nonces([SELF, OTHER, missing])
      expect([self?.kind, other?.kind]).toEqual(['ok', 'ok'])
      expect(nobody).toMatchObject({ kind: 'refused', refusal: { code: 'account_not_found' } })
      expect(await stage.chain.balance(missing)).toEqual({ kind: 'ok', value: 0n })
    })

    test('a used sequence number is told apart from one that is not there yet', async () => {
      const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
      const next = await stage.nonce()
      const used = await stage.chain.sign(draft, signingContextAt(next - 1n))
      const ahead = await stage.chain.sign(draft, signingContextAt(next + 5n))
      expect(await stage.chain.broadcast([used.raw, ahead.raw])).toEqual([
        { kind: 'nonce_used', detail: 'tx_bad_seq' },
        { kind: 'later', detail: 'tx_bad_seq' },
      ])
    })
  })

  test('another network behind a url is refused before it is configured', async () => {
    const elsewhere = await setStage({ passphrase: 'Test SDF Network ; September 2015' })
    const mixed = stage.chainAt(stage.ledger.url, elsewhere.ledger.url)
    expect(await mixed.verify({ each: true })).toMatchObject({
      kind: 'refused',
      refusal: { detail: expect.stringContaining('Test SDF') },
    })
    expect(await mixed.verify()).toMatchObject({ kind: 'ok' })
    expect(await stage.chain.verify()).toEqual({ kind: 'ok', value: undefined })
    await elsewhere.ledger.stop()
  })
})

describe('ledgers within one second', () => {
  let stage: Stage

  beforeEach(async () => {
    // Its time stands still: ledgers close in a later second only where a test says so.
    const startedAt = Date.now()
    stage = await setStage({ protocolVersion: 30, retentionLedgers: 5, now: () => startedAt })
  })

  afterEach(() => stage.ledger.stop())

  const closeTime = () => stage.ledger.ledgers.at(-1)?.closeTime ?? 0

  /** Signs a payment that no node of the service's gets, and returns it with the last second in which it is valid. */
  async function signed() {
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(5n)] }))
    const nonce = await stage.nonce()
    const bytes = await stage.chain.sign(draft, signingContextAt(nonce))
    const attempt = attemptOf(draft, { sourceAccount: SELF, nonce, signed: bytes })
    return {
      draft,
      attempt,
      envelope: Buffer.from(bytes.raw).toString('base64'),
      end: Number(draft.expiresAt),
    }
  }

  /** CAP-88: "a transaction whose maxTime equals the current whole second remains includable in multiple successive ledgers". */
  describe('ledgers that close in one second', () => {
    test('do not end a transaction in its last second: the next of them can still apply it', async () => {
      const { draft, attempt, envelope, end } = await signed()
      stage.ledger.close({ seconds: end - closeTime() })
      expect(closeTime()).toBe(end)
      const head = known(await stage.chain.head())
      expect(await stage.chain.expiry.hasExpired(draft, head)).toBe(false)
      stage.ledger.nominate(envelope)
      stage.ledger.close({ seconds: 0 })
      expect(closeTime()).toBe(end)
      expect(stage.ledger.included(attempt.signed.hash)).toBeDefined()
      const later = known(await stage.chain.head())
      expect(await stage.chain.proveInclusion([attempt], { asOf: later.number })).toMatchObject({
        kind: 'included',
      })
    })

    test('end it as soon as one closes in a later second', async () => {
      const { draft, attempt, envelope, end } = await signed()
      stage.ledger.close({ seconds: end - closeTime() + 1 })
      const head = known(await stage.chain.head())
      expect(await stage.chain.expiry.hasExpired(draft, head)).toBe(true)
      expect(await stage.chain.proveInclusion([attempt], { asOf: head.number })).toEqual({ kind: 'absent' })
      stage.ledger.nominate(envelope)
      stage.ledger.close({ seconds: 0 })
      expect(stage.ledger.included(attempt.signed.hash)).toBeUndefined()
    })

    test('can be lost to a node whose oldest one closed in the second in which a transaction was prepared', async () => {
      const { attempt, envelope, draft } = await signed()
      stage.ledger.nominate(envelope)
      stage.ledger.close({ seconds: 0 })
      const second = await stage.run(requestOf({ operations: [paymentOf(6n)] }))
      stage.ledger.close({ ledgers: 4, seconds: 0 })
      const { number } = known(await stage.chain.head())
      const since = stage.chain.expiry.preparedAt?.(draft)
      expect(since).toEqual(new Date(closeTime() * 1_000))
      expect(stage.ledger.included(second)).toBeDefined()
      expect(
        await stage.chain.proveInclusion([attempt], { asOf: number, ...(since && { since }) }),
      ).toMatchObject({ kind: 'unknown', unprovable: true })
    })
  })
})
