import {
  Account,
  Asset,
  type Keypair,
  Operation,
  type Transaction,
  TransactionBuilder,
} from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import {
  keypairOf,
  MAIN,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'

type Signed = Schemas['SignedStellarTransaction']

/** A channel that the caller has, not the service. */
const CHANNEL = keypairOf('a channel of the caller')

let story: StellarScenario

beforeAll(async () => {
  story = await startStellarScenario({ relayer: { policies: { max_fee: 1_000 } } })
  story.ledger.fund(CHANNEL.publicKey(), 10n * XLM)
})
afterAll(() => story.stop())

const sign = (unsigned_xdr: string) =>
  story.service.api<Signed>('POST', '/relayers/main/sign-transaction', { unsigned_xdr })

interface Draft {
  readonly source?: Keypair
  readonly payer?: string
  readonly amount?: string
  readonly fee?: string
}

/** A payment of lumens to the receiver. */
function draft({ source = MAIN, payer, amount = '1', fee = '100' }: Draft = {}): Transaction {
  const { sequence } = story.ledger.account(source.publicKey()) ?? { sequence: 0n }
  return new TransactionBuilder(new Account(source.publicKey(), String(sequence)), {
    fee,
    networkPassphrase: story.ledger.passphrase,
  })
    .addOperation(
      Operation.payment({
        destination: RECEIVER,
        asset: Asset.native(),
        amount,
        ...(payer === undefined ? {} : { source: payer }),
      }),
    )
    .setTimebounds(0, (story.ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
    .build()
}

const open = (xdr: string) => TransactionBuilder.fromXDR(xdr, story.ledger.passphrase) as Transaction

describe('POST …/sign-transaction', () => {
  test('a transaction of the relayer is signed as it is, and the ledger takes it', async () => {
    const unsigned = draft()
    const { status, body } = await sign(unsigned.toXDR())
    expect(status).toBe(200)
    const signed = open(body.data.signedXdr)
    expect(Buffer.from(signed.hash())).toEqual(Buffer.from(unsigned.hash()))
    const signature = Buffer.from(body.data.signature, 'base64')
    expect(MAIN.verify(Buffer.from(unsigned.hash()), signature)).toBe(true)
    const before = story.ledger.account(RECEIVER)?.balance ?? 0n
    expect(await submitTo(story.ledger, body.data.signedXdr)).toBe('PENDING')
    story.ledger.close()
    expect(story.ledger.account(RECEIVER)?.balance).toBe(before + XLM)
  })

  test("a third party's channel, with the relayer as the source of the operation, keeps its signature", async () => {
    const unsigned = draft({ source: CHANNEL, payer: MAIN.publicKey() })
    unsigned.sign(CHANNEL)
    const { status, body } = await sign(unsigned.toXDR())
    expect(status).toBe(200)
    expect(open(body.data.signedXdr).signatures).toHaveLength(2)
    const before = story.ledger.account(MAIN.publicKey())?.balance ?? 0n
    expect(await submitTo(story.ledger, body.data.signedXdr)).toBe('PENDING')
    story.ledger.close()
    expect(story.ledger.account(MAIN.publicKey())?.balance).toBe(before - XLM)
  })

  test('signed twice, it has the signature once', async () => {
    const first = await sign(draft().toXDR())
    const again = await sign(first.body.data.signedXdr)
    expect(again.body.data).toEqual(first.body.data)
  })

  test.each<[string, () => string, string, string]>([
    ['no envelope', () => 'AAAA', 'invalid_request', 'unsigned_xdr'],
    ['no base64', () => '###', 'invalid_request', 'body.unsigned_xdr'],
    [
      'a transaction that is none of the relayer',
      () => draft({ source: CHANNEL }).toXDR(),
      'invalid_request',
      'source',
    ],
    ['a fee above max_fee', () => draft({ fee: '1001' }).toXDR(), 'fee_above_cap', 'max_fee'],
    [
      'more than the account can spend',
      () => draft({ amount: '100000' }).toXDR(),
      'insufficient_balance',
      'spend',
    ],
    [
      "more than it can spend, by somebody else's channel",
      () => draft({ source: CHANNEL, payer: MAIN.publicKey(), amount: '100000' }).toXDR(),
      'insufficient_balance',
      'spend',
    ],
    ['a fee bump', feeBump, 'not_supported', 'fee_bump'],
  ])('%s is refused and named', async (_name, xdr, code, words) => {
    const { status, body } = await sign(xdr())
    expect({ status, code: body.code }).toEqual({ status: 400, code })
    expect(body.error).toContain(words)
  })

  test('without a policy, a fee of up to the default of max_fee is signed, and no higher one', async () => {
    const { ledger, service, stop } = await startStellarScenario()
    onTestFinished(stop)
    ledger.fund(MAIN.publicKey(), 10n * XLM)
    const sign = (unsigned_xdr: string) =>
      service.api<Signed>('POST', '/relayers/main/sign-transaction', { unsigned_xdr })
    const refused = await sign(draft({ fee: '1000001' }).toXDR())
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 400,
      code: 'fee_above_cap',
    })
    expect(refused.body.error).toBe(
      "unsigned_xdr: its fee of 1000001 is above the relayer's max_fee of 1000000 stroops.",
    )
    expect((await sign(draft({ fee: '1000000' }).toXDR())).status).toBe(200)
  })

  test('the body of another network type is refused', async () => {
    const { status, body } = await story.service.api('POST', '/relayers/main/sign-transaction', {
      value: 1,
      nonce: 0,
      gas_limit: 21_000,
    })
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'wrong_network_type' })
  })
})

function feeBump(): string {
  const inner = draft({ source: CHANNEL })
  inner.sign(CHANNEL)
  return TransactionBuilder.buildFeeBumpTransaction(MAIN, '200', inner, story.ledger.passphrase).toXDR()
}
