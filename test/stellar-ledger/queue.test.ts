import { Keypair, Operation } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codesOf, type Desk, hashOf, openDesk, XLM } from './desk.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.ledger.stop())

const bumpTo = (sequence: bigint) => Operation.bumpSequence({ bumpTo: String(sequence) })
const NOTHING = bumpTo(0n)

describe('one transaction of an account waits at a time', () => {
  test('the same again is a duplicate, the next number must try later', async () => {
    const alice = desk.person()
    const first = desk.build(alice, [NOTHING])
    const next = desk.build(alice, [NOTHING], {
      sequence: (desk.ledger.account(alice.publicKey())?.sequence ?? 0n) + 2n,
    })
    expect((await desk.send(first)).status).toBe('PENDING')
    expect((await desk.send(first)).status).toBe('DUPLICATE')
    expect((await desk.send(next)).status).toBe('TRY_AGAIN_LATER')
    expect(desk.ledger.queue()).toHaveLength(1)
  })

  test('another one of the same number must try later unless it is a fee bump', async () => {
    const alice = desk.person()
    await desk.send(desk.build(alice, [NOTHING]))
    expect((await desk.send(desk.build(alice, [NOTHING], { fee: '100000' }))).status).toBe('TRY_AGAIN_LATER')
  })

  test('a number that is behind the one that waits is bad', async () => {
    const alice = desk.person()
    const { sequence = 0n } = desk.ledger.account(alice.publicKey()) ?? {}
    await desk.send(desk.build(alice, [NOTHING]))
    const late = await desk.send(desk.build(alice, [NOTHING], { sequence }))
    expect([late.status, ...codesOf(late.errorResult)]).toEqual(['ERROR', 'txBadSeq'])
  })

  test('what waits inside a fee bump is a duplicate by itself', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    const inner = desk.build(alice, [NOTHING])
    expect((await desk.send(desk.bump(payer, inner, 200n))).status).toBe('PENDING')
    expect((await desk.send(inner)).status).toBe('DUPLICATE')
  })

  test('an account that pays for somebody else has its own place still', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 200n))
    expect((await desk.send(desk.build(payer, [NOTHING]))).status).toBe('PENDING')
  })
})

describe('replace by fee', () => {
  test.each([
    { waits: 'a transaction of one operation', bid: 100, offer: 1999n, needed: 2000n },
    { waits: 'a transaction with a rate of 777', bid: 777, offer: 15_539n, needed: 15_540n },
  ])(
    '$waits: one stroop below ten times the rate is refused with the least fee, ten times is taken',
    async ({ bid, offer, needed }) => {
      const [alice, payer] = [desk.person(), desk.person()]
      await desk.send(desk.build(alice, [NOTHING], { fee: String(bid) }))
      const rival = desk.build(alice, [bumpTo(1n)], { fee: String(bid) })
      const refused = await desk.send(desk.bump(payer, rival, offer))
      expect([refused.status, ...codesOf(refused.errorResult)]).toEqual(['ERROR', 'txInsufficientFee'])
      expect(refused.errorResult?.feeCharged).toBe(needed)
      const taken = desk.bump(payer, rival, needed)
      expect((await desk.send(taken)).status).toBe('PENDING')
      expect(desk.ledger.queue().map(({ hash }) => hash)).toEqual([hashOf(taken)])
    },
  )

  test('9.99 times is refused, 10 times is taken, of a fee bump by a fee bump', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 1000n))
    const rival = desk.build(alice, [bumpTo(1n)])
    const refused = await desk.send(desk.bump(payer, rival, 9990n))
    expect(refused.errorResult?.feeCharged).toBe(10_000n)
    expect((await desk.send(desk.bump(payer, rival, 10_000n))).status).toBe('PENDING')
  })

  test('only the replacement is included, and it is found by the hash of what it wraps, too', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    const first = desk.build(alice, [NOTHING])
    await desk.send(first)
    const rival = desk.build(alice, [bumpTo(1n)])
    await desk.send(desk.bump(payer, rival, 2000n))
    const { transactions } = desk.ledger.close()
    expect(transactions).toHaveLength(1)
    expect((await desk.look(first)).status).toBe('NOT_FOUND')
    expect(await desk.look(rival)).toMatchObject({ status: 'SUCCESS', feeBump: true })
  })

  test('a replaced transaction may be sent again only for ten times more; it is not banned', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    const first = desk.build(alice, [NOTHING])
    await desk.send(first)
    await desk.send(desk.bump(payer, desk.build(alice, [bumpTo(1n)]), 2000n))
    expect((await desk.send(first)).status).toBe('TRY_AGAIN_LATER')
    expect((await desk.send(desk.bump(payer, first, 20_000n))).status).toBe('PENDING')
  })

  test('a replacement inherits how long its predecessor has waited', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    await desk.send(desk.build(alice, [NOTHING]))
    desk.ledger.setCapacity(0)
    desk.ledger.close(3)
    desk.ledger.setCapacity(1000)
    const replacement = desk.bump(payer, desk.build(alice, [bumpTo(1n)]), 2000n)
    expect((await desk.send(replacement)).status).toBe('PENDING')
    desk.ledger.setCapacity(0)
    desk.ledger.close()
    expect(desk.ledger.queue()).toHaveLength(0)
  })
})

describe('age and bans', () => {
  test('what four ledgers did not take leaves the queue, and is refused for ten ledgers', async () => {
    const transaction = desk.build(desk.person(), [NOTHING])
    await desk.send(transaction)
    desk.ledger.setCapacity(0)
    desk.ledger.close(3)
    expect(desk.ledger.queue()).toHaveLength(1)
    desk.ledger.close()
    expect(desk.ledger.queue()).toHaveLength(0)
    desk.ledger.setCapacity(1000)
    desk.ledger.close(9)
    expect((await desk.send(transaction)).status).toBe('TRY_AGAIN_LATER')
    desk.ledger.close()
    expect((await desk.send(transaction)).status).toBe('PENDING')
  })

  test('what was applied is refused as such while it is banned, and for its number afterwards', async () => {
    const transaction = desk.build(desk.person(), [NOTHING])
    expect(await desk.apply(transaction)).toEqual(['txSuccess', 'bumpSequenceSuccess'])
    expect((await desk.send(transaction)).status).toBe('TRY_AGAIN_LATER')
    desk.ledger.close(9)
    const late = await desk.send(transaction)
    expect([late.status, ...codesOf(late.errorResult)]).toEqual(['ERROR', 'txBadSeq'])
  })

  test('a node that lost its queue takes the same bytes again', async () => {
    const transaction = desk.build(desk.person(), [NOTHING])
    await desk.send(transaction)
    desk.ledger.dropQueue()
    expect(desk.ledger.close().transactions).toHaveLength(0)
    expect(await desk.apply(transaction)).toEqual(['txSuccess', 'bumpSequenceSuccess'])
  })

  test('what can never be applied any more leaves the queue without a trace in a ledger', async () => {
    const maxTime = BigInt(desk.ledger.ledgers.at(-1)?.closeTime ?? 0) + 60n
    const transaction = desk.build(desk.person(), [NOTHING], { maxTime })
    await desk.send(transaction)
    expect(desk.ledger.close({ seconds: 120 }).transactions).toHaveLength(0)
    expect(desk.ledger.queue()).toHaveLength(0)
    expect((await desk.look(transaction)).status).toBe('NOT_FOUND')
  })
})

describe('a full queue', () => {
  test('accepts no bid below an evicted one, even where there is capacity', async () => {
    desk.ledger.setCapacity(1)
    await desk.send(desk.build(desk.person(), [NOTHING, NOTHING], { fee: '150' }))
    await desk.send(desk.build(desk.person(), [NOTHING], { fee: '200' }))
    const late = await desk.send(desk.build(desk.person(), [NOTHING], { fee: '150' }))
    expect(codesOf(late.errorResult)).toEqual(['txInsufficientFee'])
    expect(late.errorResult?.feeCharged).toBe(151n)
  })

  test('evicts the lowest rate for a higher one, and tells the others the rate that they need', async () => {
    desk.ledger.setCapacity(1)
    const [cheap, dear, late] = [desk.person(), desk.person(), desk.person()]
    const loser = desk.build(cheap, [NOTHING], { fee: '100' })
    await desk.send(loser)
    await desk.send(desk.build(dear, [NOTHING], { fee: '300' }))
    const tooLittle = await desk.send(desk.build(late, [NOTHING], { fee: '100' }))
    expect(codesOf(tooLittle.errorResult)).toEqual(['txInsufficientFee'])
    expect(tooLittle.errorResult?.feeCharged).toBe(101n)
    expect((await desk.send(desk.build(late, [NOTHING], { fee: '101' }))).status).toBe('PENDING')
    expect(desk.ledger.queue().map(({ fee }) => fee)).toEqual([300n, 101n])
    expect((await desk.send(loser)).status).toBe('TRY_AGAIN_LATER')
  })
})

describe('the money', () => {
  test('a replacement need not be paid for beside what it replaces', async () => {
    const [alice, payer] = [desk.person(), desk.person(XLM + 10_500n)]
    await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 1000n))
    const rival = desk.bump(payer, desk.build(alice, [bumpTo(1n)]), 10_000n)
    expect((await desk.send(rival)).status).toBe('PENDING')
  })

  test('a payer that has become too poor for all that waits pays for none of it', async () => {
    const payer = desk.person(XLM + 6000n)
    for (const source of [desk.person(), desk.person()]) {
      await desk.send(desk.bump(payer, desk.build(source, [NOTHING]), 3000n))
    }
    desk.ledger.fund(payer.publicKey(), -1n)
    expect(desk.ledger.close().transactions).toHaveLength(0)
    expect(desk.ledger.queue()).toHaveLength(0)
  })

  test('a payer must be able to pay for everything that waits', async () => {
    const payer = desk.person(XLM + 5000n)
    const [alice, bob] = [desk.person(), desk.person()]
    expect((await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 3000n))).status).toBe('PENDING')
    const second = await desk.send(desk.bump(payer, desk.build(bob, [NOTHING]), 3000n))
    expect([second.status, ...codesOf(second.errorResult)]).toEqual(['ERROR', 'txInsufficientBalance'])
  })

  test('an account without a ledger entry cannot be a source', async () => {
    const nobody = Keypair.random()
    const sent = await desk.send(desk.build(nobody, [NOTHING], { sequence: 1n }))
    expect(codesOf(sent.errorResult)).toEqual(['txNoAccount'])
  })
})
