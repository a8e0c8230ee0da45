import { Operation } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codesOf, type Desk, NOTHING, openDesk } from './desk.ts'

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
