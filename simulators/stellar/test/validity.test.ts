import { createHash } from 'node:crypto'
import { Asset, Keypair, Networks, Operation, StrKey, Transaction } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codesOf, type Desk, NOTHING, openDesk, type Wish } from './desk.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.ledger.stop())

describe('signatures', () => {
  test('a transaction without a signature is refused', async () => {
    expect(await desk.refusal(desk.person(), { signers: [] })).toEqual(['ERROR', 'txBadAuth'])
  })

  test('a transaction with the signature of another account is refused', async () => {
    expect(await desk.refusal(desk.person(), { signers: [Keypair.random()] })).toEqual(['ERROR', 'txBadAuth'])
  })

  test('one signature more than needed is refused', async () => {
    const alice = desk.person()
    expect(await desk.refusal(alice, { signers: [alice, Keypair.random()] })).toEqual([
      'ERROR',
      'txBadAuthExtra',
    ])
  })

  test('a signature for another network is refused', async () => {
    const alice = desk.person()
    const transaction = desk.build(alice, [NOTHING], { signers: [] })
    const elsewhere = new Transaction(transaction.toEnvelope(), Networks.TESTNET)
    elsewhere.sign(alice)
    expect(codesOf((await desk.send(elsewhere)).errorResult)).toEqual(['txBadAuth'])
  })

  test('an operation of an account that has not signed fails', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const ofOther = Operation.bumpSequence({ bumpTo: '0', source: bob.publicKey() })
    expect(await desk.refusal(alice, {}, [NOTHING, ofOther])).toEqual([
      'ERROR',
      'txFailed',
      'bumpSequenceSuccess',
      'opBadAuth',
    ])
    expect(await desk.apply(desk.build(alice, [ofOther], { signers: [alice, bob] }))).toEqual([
      'txSuccess',
      'bumpSequenceSuccess',
    ])
  })

  test('an operation of an account that does not exist fails', async () => {
    const source = Keypair.random()
    const ofOther = Operation.bumpSequence({ bumpTo: '0', source: source.publicKey() })
    const alice = desk.person()
    expect(await desk.apply(desk.build(alice, [ofOther], { signers: [alice, source] }))).toEqual([
      'txFailed',
      'opNoAccount',
    ])
  })

  test('each operation needs the weight of its level', async () => {
    const [alice, friend] = [desk.person(), Keypair.random()]
    const shared = Operation.setOptions({
      signer: { ed25519PublicKey: friend.publicKey(), weight: 1 },
      lowThreshold: 1,
      medThreshold: 2,
      highThreshold: 3,
    })
    expect(await desk.apply(desk.build(alice, [shared]))).toEqual(['txSuccess', 'setOptionsSuccess'])
    const pay = Operation.payment({ destination: alice.publicKey(), asset: Asset.native(), amount: '1' })
    const merge = Operation.accountMerge({ destination: desk.person().publicKey() })
    const both = { signers: [alice, friend] }
    expect(await desk.refusal(alice, {}, [pay])).toEqual(['ERROR', 'txFailed', 'opBadAuth'])
    expect(await desk.refusal(alice, both, [merge])).toEqual(['ERROR', 'txFailed', 'opBadAuth'])
    expect(await desk.apply(desk.build(alice, [pay], both))).toEqual(['txSuccess', 'paymentSuccess'])
    expect(await desk.apply(desk.build(alice, [NOTHING]))).toEqual(['txSuccess', 'bumpSequenceSuccess'])
  })

  test('a secret signs for its hash, and a transaction for itself, once', async () => {
    const alice = desk.person()
    const secret = Buffer.from('only I know this')
    const sha256Hash = createHash('sha256').update(secret).digest()
    await desk.apply(desk.build(alice, [Operation.setOptions({ signer: { sha256Hash, weight: 1 } })]))
    const bySecret = desk.build(alice, [NOTHING], { signers: [] })
    bySecret.signHashX(secret)
    expect(await desk.apply(bySecret)).toEqual(['txSuccess', 'bumpSequenceSuccess'])

    const sequence = (desk.ledger.account(alice.publicKey())?.sequence ?? 0n) + 2n
    const announced = desk.build(alice, [NOTHING], { signers: [], sequence })
    const preAuthTx = announced.hash()
    await desk.apply(desk.build(alice, [Operation.setOptions({ signer: { preAuthTx, weight: 1 } })]))
    expect(desk.ledger.account(alice.publicKey())?.signers).toHaveLength(2)
    expect(await desk.apply(announced)).toEqual(['txSuccess', 'bumpSequenceSuccess'])
    const left = desk.ledger.account(alice.publicKey())
    expect(left?.signers.map(({ key }) => key)).toEqual([StrKey.encodeSha256Hash(sha256Hash)])
    expect(left?.subEntries).toBe(1)
  })

  test('an account without the low weight is no source at all', async () => {
    const alice = desk.person()
    const signer = { ed25519PublicKey: Keypair.random().publicKey(), weight: 1 }
    const strict = Operation.setOptions({ signer, lowThreshold: 2, medThreshold: 2, highThreshold: 2 })
    await desk.apply(desk.build(alice, [strict]))
    expect(await desk.refusal(alice, {})).toEqual(['ERROR', 'txBadAuth'])
  })

  test('an extra signer must have signed', async () => {
    const [alice, witness] = [desk.person(), Keypair.random()]
    const change: Wish['change'] = (builder) => builder.setExtraSigners([witness.publicKey()])
    expect(await desk.refusal(alice, { change })).toEqual(['ERROR', 'txBadAuth'])
    expect(await desk.apply(desk.build(alice, [NOTHING], { change, signers: [alice, witness] }))).toEqual([
      'txSuccess',
      'bumpSequenceSuccess',
    ])
  })
})

describe('sequence numbers', () => {
  test.each([
    ['the one it has', 0n],
    ['one too far', 2n],
  ])('%s', async (_name, by) => {
    const alice = desk.person()
    const { sequence = 0n } = desk.ledger.account(alice.publicKey()) ?? {}
    expect(await desk.refusal(alice, { sequence: sequence + by })).toEqual(['ERROR', 'txBadSeq'])
  })

  test('a gap is allowed from a least number on, and skipped by it (CAP-21)', async () => {
    const alice = desk.person()
    const { sequence = 0n } = desk.ledger.account(alice.publicKey()) ?? {}
    const change: Wish['change'] = (builder) => builder.setMinAccountSequence(String(sequence))
    expect(await desk.apply(desk.build(alice, [NOTHING], { sequence: sequence + 10n, change }))).toEqual([
      'txSuccess',
      'bumpSequenceSuccess',
    ])
    expect(desk.ledger.account(alice.publicKey())?.sequence).toBe(sequence + 10n)
  })

  test('a number must have an age when the transaction says so', async () => {
    const alice = desk.person()
    await desk.apply(desk.build(alice, [NOTHING]))
    const change: Wish['change'] = (builder) => builder.setMinAccountSequenceAge(3600n)
    expect(await desk.refusal(alice, { change })).toEqual(['ERROR', 'txBadMinSeqAgeOrGap'])
    desk.ledger.close({ seconds: 3600 })
    expect(await desk.apply(desk.build(alice, [NOTHING], { change }))).toEqual([
      'txSuccess',
      'bumpSequenceSuccess',
    ])
  })

  test('a transaction that fails uses its number up', async () => {
    const alice = desk.person()
    const { sequence = 0n } = desk.ledger.account(alice.publicKey()) ?? {}
    const pay = Operation.payment({
      destination: Keypair.random().publicKey(),
      asset: Asset.native(),
      amount: '1',
    })
    expect(await desk.apply(desk.build(alice, [pay]))).toEqual(['txFailed', 'paymentNoDestination'])
    expect(desk.ledger.account(alice.publicKey())?.sequence).toBe(sequence + 1n)
  })
})

describe('time', () => {
  const closeTime = () => BigInt(desk.ledger.ledgers.at(-1)?.closeTime ?? 0)

  test('a transaction that ends before two ledgers of five seconds can close comes too late', async () => {
    const late = { maxTime: closeTime() + 8n }
    expect(await desk.refusal(desk.person(), late)).toEqual(['ERROR', 'txTooLate'])
    expect(await desk.refusal(desk.person(), { maxTime: closeTime() + 60n })).toEqual(['PENDING'])
  })

  test('the clock that counts is that of the ledgers', async () => {
    const maxTime = closeTime() + 100n
    desk.ledger.close({ seconds: 200 })
    expect(await desk.refusal(desk.person(), { maxTime })).toEqual(['ERROR', 'txTooLate'])
  })

  test('a transaction that begins later comes too early', async () => {
    const alice = desk.person()
    const minTime = String(closeTime() + 50n)
    const change: Wish['change'] = (builder) => {
      builder.timebounds = { minTime, maxTime: '0' }
      return builder
    }
    expect(await desk.refusal(alice, { change })).toEqual(['ERROR', 'txTooEarly'])
    desk.ledger.close({ seconds: 50 })
    expect(await desk.apply(desk.build(alice, [NOTHING], { change }))).toEqual([
      'txSuccess',
      'bumpSequenceSuccess',
    ])
  })

  test('the numbers of ledgers bound it, too', async () => {
    const change: Wish['change'] = (builder) => builder.setLedgerbounds(0, 2)
    expect(await desk.refusal(desk.person(), { change })).toEqual(['ERROR', 'txTooLate'])
    const later: Wish['change'] = (builder) => builder.setLedgerbounds(4, 0)
    expect(await desk.refusal(desk.person(), { change: later })).toEqual(['ERROR', 'txTooEarly'])
  })
})
