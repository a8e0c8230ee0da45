import {
  Asset,
  AuthClawbackEnabledFlag,
  AuthRequiredFlag,
  AuthRevocableFlag,
  Claimant,
  Keypair,
  Operation,
  type xdr,
} from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Desk, openDesk, XLM } from './desk.ts'

let desk: Desk
beforeEach(async () => {
  desk = await openDesk()
})
afterEach(() => desk.ledger.stop())

const balanceOf = (keys: Keypair) => desk.ledger.account(keys.publicKey())?.balance
const run = (source: Keypair, ...operations: xdr.Operation[]) => desk.apply(desk.build(source, operations))
const pay = (to: Keypair, amount: string, asset = Asset.native()) =>
  Operation.payment({ destination: to.publicKey(), asset, amount })
const create = (to: Keypair, startingBalance: string) =>
  Operation.createAccount({ destination: to.publicKey(), startingBalance })

/** Creates an account that holds 100 of an asset, and its issuer. */
async function holder(): Promise<{ usd: Asset; issuer: Keypair; alice: Keypair }> {
  const [issuer, alice] = [desk.person(), desk.person()]
  const usd = new Asset('USD', issuer.publicKey())
  await run(alice, Operation.changeTrust({ asset: usd, limit: '1000' }))
  await run(issuer, pay(alice, '100', usd))
  return { usd, issuer, alice }
}

describe('create_account', () => {
  test('makes an account whose numbers begin with the ledger', async () => {
    const [alice, bob] = [desk.person(), Keypair.random()]
    expect(await run(alice, create(bob, '5'))).toEqual(['txSuccess', 'createAccountSuccess'])
    expect(desk.ledger.account(bob.publicKey())).toMatchObject({ balance: 5n * XLM, sequence: 2n << 32n })
    expect(balanceOf(alice)).toBe(995n * XLM - 100n)
  })

  test.each([
    ['below the reserve', '0.9999999', 'createAccountLowReserve'],
    ['above the balance of the source', '1000', 'createAccountUnderfunded'],
  ])('is refused with an amount %s', async (_name, amount, code) => {
    expect(await run(desk.person(), create(Keypair.random(), amount))).toEqual(['txFailed', code])
  })

  test('is refused for an account that exists', async () => {
    expect(await run(desk.person(), create(desk.person(), '5'))).toEqual([
      'txFailed',
      'createAccountAlreadyExist',
    ])
  })
})

describe('payment', () => {
  test('moves what it says; the reserve cannot be spent', async () => {
    const [alice, bob] = [desk.person(10n * XLM), desk.person(10n * XLM)]
    expect(await run(alice, pay(bob, '9'))).toEqual(['txFailed', 'paymentUnderfunded'])
    expect(await run(alice, pay(bob, '8.5'))).toEqual(['txSuccess', 'paymentSuccess'])
    expect(balanceOf(bob)).toBe(185_000_000n)
  })

  test('all operations happen, or none', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const result = await run(alice, pay(bob, '1'), pay(Keypair.random(), '1'))
    expect(result).toEqual(['txFailed', 'paymentSuccess', 'paymentNoDestination'])
    expect([balanceOf(alice), balanceOf(bob)]).toEqual([1000n * XLM - 200n, 1000n * XLM])
  })

  test('what a failed operation did is not there for the next one', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const back = Operation.payment({
      source: bob.publicKey(),
      destination: alice.publicKey(),
      asset: Asset.native(),
      amount: '1500',
    })
    const transaction = desk.build(alice, [pay(bob, '2000'), back], { signers: [alice, bob] })
    expect(await desk.apply(transaction)).toEqual(['txFailed', 'paymentUnderfunded', 'paymentUnderfunded'])
  })

  test('credit needs trust at both ends and a limit that suffices, and is free for its issuer', async () => {
    const { usd, issuer, alice } = await holder()
    const bob = desk.person()
    expect(await run(alice, pay(bob, '1', usd))).toEqual(['txFailed', 'paymentNoTrust'])
    expect(await run(bob, pay(alice, '1', usd))).toEqual(['txFailed', 'paymentSrcNoTrust'])
    expect(await run(alice, pay(issuer, '200', usd))).toEqual(['txFailed', 'paymentUnderfunded'])
    expect(await run(issuer, pay(alice, '901', usd))).toEqual(['txFailed', 'paymentLineFull'])
    expect(await run(alice, pay(issuer, '100', usd))).toEqual(['txSuccess', 'paymentSuccess'])
    expect(desk.ledger.account(alice.publicKey())?.trustlines[0]?.balance).toBe(0n)
  })

  test('an issuer that asks for it authorises each holder first', async () => {
    const [issuer, alice] = [desk.person(), desk.person()]
    const usd = new Asset('USD', issuer.publicKey())
    await run(issuer, Operation.setOptions({ setFlags: AuthRequiredFlag }))
    await run(alice, Operation.changeTrust({ asset: usd }))
    expect(await run(issuer, pay(alice, '1', usd))).toEqual(['txFailed', 'paymentNotAuthorized'])
  })
})

describe('path payments', () => {
  const send = (alice: Keypair, usd: Asset, destMin: string) =>
    Operation.pathPaymentStrictSend({
      sendAsset: Asset.native(),
      sendAmount: '10',
      destination: alice.publicKey(),
      destAsset: usd,
      destMin,
    })

  test('without an offer there is no way', async () => {
    const { usd, alice } = await holder()
    expect(await run(alice, send(alice, usd, '1'))).toEqual(['txFailed', 'pathPaymentStrictSendTooFewOffers'])
  })

  test('an offer exchanges at its price, within the bound', async () => {
    const { usd, issuer, alice } = await holder()
    const selling = `USD:${issuer.publicKey()}`
    desk.ledger.offer({ seller: issuer.publicKey(), selling, buying: 'native', price: { n: 2n, d: 1n } })
    expect(await run(alice, send(alice, usd, '5.1'))).toEqual([
      'txFailed',
      'pathPaymentStrictSendUnderDestmin',
    ])
    expect(await run(alice, send(alice, usd, '5'))).toEqual(['txSuccess', 'pathPaymentStrictSendSuccess'])
    expect(desk.ledger.account(alice.publicKey())?.trustlines[0]?.balance).toBe(105n * XLM)
    const receive = (sendMax: string) =>
      Operation.pathPaymentStrictReceive({
        sendAsset: Asset.native(),
        sendMax,
        destination: alice.publicKey(),
        destAsset: usd,
        destAmount: '3',
      })
    expect(await run(alice, receive('5.9'))).toEqual(['txFailed', 'pathPaymentStrictReceiveOverSendmax'])
    expect(await run(alice, receive('6'))).toEqual(['txSuccess', 'pathPaymentStrictReceiveSuccess'])
  })
})

describe('change_trust', () => {
  test('a line costs a reserve, keeps what it holds, and goes when it is empty', async () => {
    const { usd, issuer, alice } = await holder()
    const set = (limit: string) => Operation.changeTrust({ asset: usd, limit })
    expect(desk.ledger.account(alice.publicKey())?.subEntries).toBe(1)
    expect(await run(alice, set('99'))).toEqual(['txFailed', 'changeTrustInvalidLimit'])
    await run(alice, pay(issuer, '100', usd))
    expect(await run(alice, set('0'))).toEqual(['txSuccess', 'changeTrustSuccess'])
    expect(desk.ledger.account(alice.publicKey())).toMatchObject({ subEntries: 0, trustlines: [] })
  })

  test.each([
    ['no one issues it', 1000n * XLM, 'changeTrustNoIssuer', false],
    ['no reserve for it', XLM + 1000n, 'changeTrustLowReserve', true],
  ])('%s', async (_name, stroops, code, issued) => {
    const issuer = issued ? desk.person() : Keypair.random()
    const asset = new Asset('USD', issuer.publicKey())
    expect(await run(desk.person(stroops), Operation.changeTrust({ asset }))).toEqual(['txFailed', code])
  })
})

describe('manage_data', () => {
  test('sets, changes and takes away a value', async () => {
    const alice = desk.person()
    const set = (value: string | null) => Operation.manageData({ name: 'colour', value })
    await run(alice, set('red'))
    await run(alice, set('blue'))
    const [entry] = desk.ledger.account(alice.publicKey())?.data ?? []
    expect(Buffer.from(entry?.value ?? []).toString()).toBe('blue')
    expect(await run(alice, set(null))).toEqual(['txSuccess', 'manageDataSuccess'])
    expect(await run(alice, set(null))).toEqual(['txFailed', 'manageDataNameNotFound'])
    expect(desk.ledger.account(alice.publicKey())).toMatchObject({ subEntries: 0, data: [] })
  })
})

describe('set_options', () => {
  test('flags depend on each other', async () => {
    const alice = desk.person()
    const clawback = Operation.setOptions({ setFlags: AuthClawbackEnabledFlag })
    expect(await run(alice, clawback)).toEqual(['txFailed', 'setOptionsAuthRevocableRequired'])
    await run(alice, Operation.setOptions({ setFlags: AuthRevocableFlag, homeDomain: 'example.org' }))
    expect(await run(alice, clawback)).toEqual(['txSuccess', 'setOptionsSuccess'])
    expect(desk.ledger.account(alice.publicKey())).toMatchObject({ flags: 10, homeDomain: 'example.org' })
  })

  test('a signer costs a reserve', async () => {
    const signer = { ed25519PublicKey: Keypair.random().publicKey(), weight: 1 }
    const poor = desk.person(XLM + 1000n)
    expect(await run(poor, Operation.setOptions({ signer }))).toEqual(['txFailed', 'setOptionsLowReserve'])
  })
})

describe('account_merge', () => {
  const merge = (to: Keypair) => Operation.accountMerge({ destination: to.publicKey() })

  test('hands everything over and ends the account', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    expect(await run(alice, merge(bob))).toEqual(['txSuccess', 'accountMergeSuccess'])
    expect(desk.ledger.account(alice.publicKey())).toBeUndefined()
    expect(balanceOf(bob)).toBe(2000n * XLM - 100n)
  })

  test('is refused while the account has other entries', async () => {
    const { alice } = await holder()
    expect(await run(alice, merge(desk.person()))).toEqual(['txFailed', 'accountMergeHasSubEntries'])
  })

  test('is refused when the sequence number would begin again below the current one', async () => {
    const alice = desk.person()
    const far = Operation.bumpSequence({ bumpTo: String(1n << 40n) })
    expect(await run(alice, far, merge(desk.person()))).toEqual([
      'txFailed',
      'bumpSequenceSuccess',
      'accountMergeSeqnumTooFar',
    ])
  })
})

describe('claimable balances', () => {
  test('wait for their claimant, who can come too late', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const predicate = Claimant.predicateBeforeRelativeTime('100')
    const leave = Operation.createClaimableBalance({
      asset: Asset.native(),
      amount: '10',
      claimants: [new Claimant(bob.publicKey(), predicate)],
    })
    const transaction = desk.build(alice, [leave, leave])
    expect((await desk.apply(transaction)).at(0)).toBe('txSuccess')
    expect(desk.ledger.account(alice.publicKey())?.sponsoring).toBe(2)
    const claim = (index: number) =>
      Operation.claimClaimableBalance({ balanceId: transaction.getClaimableBalanceId(index) })
    expect(await run(alice, claim(0))).toEqual(['txFailed', 'claimClaimableBalanceCannotClaim'])
    expect(await run(bob, claim(0))).toEqual(['txSuccess', 'claimClaimableBalanceSuccess'])
    expect(await run(bob, claim(0))).toEqual(['txFailed', 'claimClaimableBalanceDoesNotExist'])
    expect(desk.ledger.account(alice.publicKey())?.sponsoring).toBe(1)
    desk.ledger.close({ seconds: 100 })
    expect(await run(bob, claim(1))).toEqual(['txFailed', 'claimClaimableBalanceCannotClaim'])
  })
})

test('an operation that this ledger does not have says so', async () => {
  const alice = desk.person()
  const offer = Operation.manageSellOffer({
    selling: Asset.native(),
    buying: new Asset('USD', alice.publicKey()),
    amount: '1',
    price: '1',
  })
  const sent = await desk.send(desk.build(alice, [offer]))
  expect(sent.errorResult?.result).toMatchObject({ type: 'txFailed', results: [{ type: 'opNotSupported' }] })
})
