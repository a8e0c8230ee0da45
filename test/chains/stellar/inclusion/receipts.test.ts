import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startBalancer } from '../balancer.ts'
import { known, OTHER, paymentOf, requestOf, SELF, signingContextAt } from '../build.ts'
import { type Stage, setStage } from '../stage.ts'

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

  test('one that is used is told apart from one that is not there yet', async () => {
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

test('another network behind the url is refused at the start', async () => {
  const elsewhere = await setStage({ passphrase: 'Test SDF Network ; September 2015' })
  const mixed = stage.chainAt(stage.ledger.url, elsewhere.ledger.url)
  expect(await mixed.verify()).toMatchObject({
    kind: 'refused',
    refusal: { detail: expect.stringContaining('Test SDF') },
  })
  expect(await stage.chain.verify()).toEqual({ kind: 'ok', value: undefined })
  await elsewhere.ledger.stop()
})
