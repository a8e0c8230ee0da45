import { Keypair, Operation } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codesOf, type Desk, hashOf, NOTHING, openDesk, XLM } from './desk.ts'

describe('the queue', () => {
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
      expect((await desk.send(desk.build(alice, [NOTHING], { fee: '100000' }))).status).toBe(
        'TRY_AGAIN_LATER',
      )
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

    test('an account that pays for a third party has its own place still', async () => {
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
})

describe('surge pricing', () => {
  let desk: Desk
  beforeEach(async () => {
    desk = await openDesk()
  })
  afterEach(() => desk.ledger.stop())

  const NOTHING = Operation.bumpSequence({ bumpTo: '0' })

  /** Sends one transaction of a new account for each fee; gives what was charged by the next ledger, by fee. */
  async function ledgerOf(fees: readonly number[]): Promise<(readonly [number, bigint])[]> {
    for (const fee of fees) {
      expect((await desk.send(desk.build(desk.person(), [NOTHING], { fee: String(fee) }))).status).toBe(
        'PENDING',
      )
    }
    const { transactions } = desk.ledger.close()
    return transactions
      .map(({ frame, frameResult }) => [Number(frame.fee), frameResult.feeCharged] as const)
      .sort(([a], [b]) => b - a)
  }

  test('as long as all fit, all pay the base fee, whatever they bid', async () => {
    expect(await ledgerOf([100, 5000])).toEqual([
      [5000, 100n],
      [100, 100n],
    ])
  })

  test('when not all fit, the best bids get in and pay what the cheapest of them bid', async () => {
    desk.ledger.setCapacity(2)
    expect(await ledgerOf([100, 700, 5000])).toEqual([
      [5000, 700n],
      [700, 700n],
    ])
    expect(desk.ledger.queue().map(({ fee }) => fee)).toEqual([100n])
    expect(await ledgerOf([])).toEqual([[100, 100n]])
  })

  test('the fee statistics tell what was charged for an operation', async () => {
    await ledgerOf([100])
    desk.ledger.setCapacity(2)
    await ledgerOf([100, 700, 5000])
    const { inclusionFee, sorobanInclusionFee, latestLedger } = await desk.client.getFeeStats()
    expect(inclusionFee).toMatchObject({
      max: '700',
      min: '100',
      mode: '700',
      p30: '100',
      p50: '700',
      p99: '700',
    })
    expect(inclusionFee).toMatchObject({ transactionCount: '3', ledgerCount: 3 })
    expect(sorobanInclusionFee).toMatchObject({ max: '0', p99: '0', transactionCount: '0' })
    expect(latestLedger).toBe(3)
  })

  test('a fee bump takes the capacity of one operation more than its inner transaction', async () => {
    desk.ledger.setCapacity(2)
    const [alice, payer] = [desk.person(), desk.person()]
    await desk.send(desk.bump(payer, desk.build(alice, [NOTHING]), 2000n))
    expect(await ledgerOf([300])).toEqual([[2000, 2000n]])
  })
})

describe('a fee', () => {
  let desk: Desk
  beforeEach(async () => {
    desk = await openDesk()
  })
  afterEach(() => desk.ledger.stop())

  describe('fees', () => {
    test('less than 100 stroops for each operation is too little; the result names what it takes', async () => {
      const sent = await desk.send(desk.build(desk.person(), [NOTHING, NOTHING], { fee: '99' }))
      expect(codesOf(sent.errorResult)).toEqual(['txInsufficientFee'])
      expect(sent.errorResult?.feeCharged).toBe(200n)
    })

    test('a transaction without operations is none', async () => {
      expect(await desk.refusal(desk.person(), {}, [])).toEqual(['ERROR', 'txMissingOperation'])
    })

    test('a fee below the reserve cannot be paid', async () => {
      const poor = desk.person(10_000_099n)
      expect(await desk.refusal(poor, {})).toEqual(['ERROR', 'txInsufficientBalance'])
      desk.ledger.fund(poor.publicKey(), 1n)
      expect(await desk.refusal(poor, {})).toEqual(['PENDING'])
    })
  })

  describe('fee bumps (CAP-15)', () => {
    test.each([
      { name: 'less than 100 for each operation and one more', inner: '100', fee: 199n, needed: 200n },
      { name: 'a lower rate than that of what it wraps', inner: '500', fee: 999n, needed: 1000n },
    ])('$name is too little', async ({ inner, fee, needed }) => {
      const [alice, payer] = [desk.person(), desk.person()]
      const wrapped = desk.build(alice, [NOTHING], { fee: inner })
      const sent = await desk.send(desk.bump(payer, wrapped, fee))
      expect([sent.status, ...codesOf(sent.errorResult)]).toEqual(['ERROR', 'txInsufficientFee'])
      expect(sent.errorResult?.feeCharged).toBe(needed)
      expect((await desk.send(desk.bump(payer, wrapped, needed))).status).toBe('PENDING')
    })

    test('what it wraps may offer nothing itself; its payer pays, its source does not', async () => {
      const [alice, payer] = [desk.person(), desk.person()]
      const wrapped = desk.build(alice, [NOTHING], { fee: '0' })
      const before = [alice, payer].map((keys) => desk.ledger.account(keys.publicKey())?.balance ?? 0n)
      expect(await desk.apply(desk.bump(payer, wrapped, 5000n))).toEqual([
        'txFeeBumpInnerSuccess',
        'txSuccess',
        'bumpSequenceSuccess',
      ])
      const after = [alice, payer].map((keys) => desk.ledger.account(keys.publicKey())?.balance ?? 0n)
      expect([0, 1].map((who) => (before[who] ?? 0n) - (after[who] ?? 0n))).toEqual([0n, 200n])
    })

    test('what is wrong with what it wraps is told inside', async () => {
      const [alice, payer] = [desk.person(), desk.person()]
      const { sequence = 0n } = desk.ledger.account(alice.publicKey()) ?? {}
      const sent = await desk.send(desk.bump(payer, desk.build(alice, [NOTHING], { sequence }), 200n))
      expect(codesOf(sent.errorResult)).toEqual(['txFeeBumpInnerFailed', 'txBadSeq'])
    })

    test('one signature more than the payer needs is too many', async () => {
      const [alice, payer] = [desk.person(), desk.person()]
      const bump = desk.bump(payer, desk.build(alice, [NOTHING]), 200n)
      bump.sign(alice)
      expect(codesOf((await desk.send(bump)).errorResult)).toEqual(['txBadAuthExtra'])
    })

    test('a bump that was announced needs no signature, once', async () => {
      const [alice, payer] = [desk.person(), desk.person()]
      const announced = desk.bump(payer, desk.build(alice, [NOTHING]), 200n)
      announced.signatures.pop()
      const signer = { preAuthTx: announced.hash(), weight: 1 }
      await desk.apply(desk.build(payer, [Operation.setOptions({ signer })]))
      expect((await desk.apply(announced)).at(0)).toBe('txFeeBumpInnerSuccess')
      expect(desk.ledger.account(payer.publicKey())).toMatchObject({ signers: [], subEntries: 0 })
    })

    test('the payer must have signed, the source need not sign the bump', async () => {
      const [alice, payer] = [desk.person(), desk.person()]
      const wrapped = desk.build(alice, [NOTHING])
      const unsigned = desk.bump(payer, wrapped, 200n)
      unsigned.signatures.pop()
      expect(codesOf((await desk.send(unsigned)).errorResult)).toEqual(['txBadAuth'])
    })
  })
})
