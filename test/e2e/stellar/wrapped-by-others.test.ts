import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { innerHashOf, wrapAs } from '../../../simulators/stellar/transaction/wrap.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import {
  keypairOf,
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'

const STRANGER = keypairOf('stranger')
const CUSTOMER = keypairOf('customer')

/** More than ten times what the service bids on a quiet network (stellar-core `FEE_MULTIPLIER`), in stroops for each operation. */
const STRANGER_RATE = 200_000

/** Time of the service between two ledgers: with some of them, whatever it waits for before it signs again is over; in ms. */
const LEDGER_MS = 10_000

let scenario: StellarScenario
const clock = createAdjustableClock()

beforeAll(async () => {
  scenario = await startStellarScenario({
    relayer: { channels: 1, policies: { max_fee: 100_000_000 } },
    clock,
    ledger: { now: () => clock.now() },
  })
  for (const { publicKey } of [STRANGER, CUSTOMER].map((pair) => ({ publicKey: pair.publicKey() })))
    scenario.ledger.fund(publicKey, 100n * XLM)
  const { ledger, send, closeUntil } = scenario
  const { id } = await send(payment(1n))
  await closeUntil(id, 'confirmed')
  const [channel = ''] = await channelsOf()
  while (ledger.account(channel) === undefined) await closeUntil((await send(payment(1n))).id, 'confirmed')
})
afterAll(() => scenario.stop())

async function channelsOf(): Promise<readonly string[]> {
  const { body } = await scenario.service.api<{ channels: string[] }[]>('GET', '/relayers')
  return body.data[0]?.channels ?? []
}

/** Sends until a transaction is submitted on the channel account, and gives the one that is. */
async function submittedOnChannel(amount: bigint) {
  const [channel] = await channelsOf()
  const { send, reach } = scenario
  const sent = await Promise.all([send(payment(amount)), send(payment(amount))])
  const submitted = await Promise.all(sent.map(({ id }) => reach(id, 'submitted')))
  const found = submitted.find(({ source_account }) => source_account === channel)
  if (found === undefined) throw new Error('neither is on the channel account')
  return { onChannel: found, ids: sent.map(({ id }) => id) }
}

function nextLedger(): void {
  clock.advance(LEDGER_MS)
  scenario.ledger.close()
}

const received = () => scenario.ledger.account(RECEIVER)?.balance ?? 0n

describe('a stranger wraps the inner transaction of a fee bump in one of their own (CAP-15)', () => {
  test('a payment through a channel account arrives once, and its record tells who paid the fee', async () => {
    const { ledger, get, reach } = scenario
    const before = received()
    const { onChannel, ids } = await submittedOnChannel(1_000n)
    const { transaction_xdr = '', hash = '' } = onChannel
    const stranger = wrapAs(ledger, STRANGER, transaction_xdr, STRANGER_RATE)
    expect(await submitTo(ledger, stranger.envelope)).toBe('PENDING')
    ledger.close()
    expect(ledger.included(stranger.hash)?.frame.feeSource).toBe(STRANGER.publicKey())
    for (const id of ids) await reach(id, 'confirmed', nextLedger)
    expect(received()).toBe(before + 2_000n)
    const record = await get(onChannel.id)
    expect(record).toMatchObject({
      hash,
      status: 'confirmed',
      applied_hash: stranger.hash,
      fee_account: STRANGER.publicKey(),
      fee: Number(ledger.included(stranger.hash)?.result.feeCharged),
      attempts: [
        {
          outcome: 'mined',
          hash,
          inner_hash: innerHashOf(transaction_xdr, ledger.passphrase),
          applied_hash: stranger.hash,
          fee_account: STRANGER.publicKey(),
        },
      ],
    })
    expect(record.status_reason).toContain(STRANGER.publicKey())
    expect(record.status_reason).toContain(stranger.hash)
  })

  test('a replacement arrives once', async () => {
    const { ledger, send, reach, replace, closeUntil } = scenario
    const before = received()
    const { id } = await send(payment(1n))
    await reach(id, 'submitted')
    expect(await replace(id, payment(500n, { max_fee: 100_000_000 }))).toMatchObject({ status: 200 })
    const replaced = await reach(id, 'submitted')
    const stranger = wrapAs(ledger, STRANGER, replaced.transaction_xdr ?? '', STRANGER_RATE * 10)
    expect(await submitTo(ledger, stranger.envelope)).toBe('PENDING')
    const record = await closeUntil(id, 'confirmed')
    expect(record).toMatchObject({
      hash: replaced.hash,
      applied_hash: stranger.hash,
      fee_account: STRANGER.publicKey(),
    })
    expect(received()).toBe(before + 500n)
  })

  test('makes a replacement dearer, and nothing else', async () => {
    const { ledger, send, reach, replace, closeUntil } = scenario
    const { id } = await send(payment(1n))
    const submitted = await reach(id, 'submitted')
    const stranger = wrapAs(ledger, STRANGER, submitted.transaction_xdr ?? '', STRANGER_RATE)
    expect(await submitTo(ledger, stranger.envelope)).toBe('PENDING')
    const refused = await replace(id, payment(2n, { max_fee: 100_000_000 }))
    expect(refused).toMatchObject({ status: 400, body: { code: 'replacement_underpriced' } })
    const other = await send(payment(3n))
    await reach(id, 'confirmed', () => ledger.close())
    const { attempts } = await closeUntil(other.id, 'confirmed')
    expect(attempts.map(rateOf)).toEqual([rateOf(submitted)])
  })

  test('a plain transaction can be wrapped, too, and is found by its own hash', async () => {
    const { ledger, send, reach, closeUntil } = scenario
    const before = received()
    const { id } = await send(payment(700n))
    const submitted = await reach(id, 'submitted')
    expect(submitted).toMatchObject({ fee_bump: false, source_account: MAIN.publicKey() })
    const stranger = wrapAs(ledger, STRANGER, submitted.transaction_xdr ?? '', STRANGER_RATE)
    expect(await submitTo(ledger, stranger.envelope)).toBe('PENDING')
    const record = await closeUntil(id, 'confirmed')
    expect(record).toMatchObject({
      hash: submitted.hash,
      applied_hash: stranger.hash,
      fee_account: STRANGER.publicKey(),
    })
    expect(record.attempts[0]).not.toHaveProperty('inner_hash')
    expect(received()).toBe(before + 700n)
  })

  test('what the service has sent itself names the relayer', async () => {
    const { send, closeUntil } = scenario
    const { id } = await send(payment(3n))
    const record = await closeUntil(id, 'confirmed')
    expect(record).toMatchObject({ applied_hash: record.hash, fee_account: MAIN.publicKey() })
    expect(record.status_reason).toBeUndefined()
  })
})

describe('a transaction that a third party has signed and sends without the relayer', () => {
  test.each([
    { how: 'plain', envelopeOf: (xdr: string) => xdr, payer: CUSTOMER },
    {
      how: 'in a fee bump of their own',
      envelopeOf: (xdr: string) => wrapAs(scenario.ledger, STRANGER, xdr, STRANGER_RATE).envelope,
      payer: STRANGER,
    },
  ])('$how is confirmed, because it was executed', async ({ envelopeOf, payer }) => {
    const { ledger, send, reach, closeUntil } = scenario
    const before = received()
    const signed = signedByCustomer()
    const { id } = await send({ network: 'standalone', transaction_xdr: signed, fee_bump: true })
    await reach(id, 'submitted')
    // The queue of the node has lost ours; the signer is quicker.
    ledger.dropQueue()
    expect(await submitTo(ledger, envelopeOf(signed))).toBe('PENDING')
    const record = await closeUntil(id, 'confirmed')
    expect(record).toMatchObject({ source_account: CUSTOMER.publicKey(), fee_account: payer.publicKey() })
    expect(record.status_reason).toContain(payer.publicKey())
    expect(received()).toBe(before + XLM)
  })
})

/** What is bid for each operation; a fee bump counts as one more. */
function rateOf({ fee, fee_bump }: { fee?: unknown; fee_bump?: boolean }): number {
  return Number(fee) / (fee_bump ? 2 : 1)
}

/** A payment of one lumen, with the customer's next sequence number. */
function signedByCustomer(): string {
  const { ledger } = scenario
  const { sequence } = ledger.account(CUSTOMER.publicKey()) ?? { sequence: 0n }
  const transaction = new TransactionBuilder(new Account(CUSTOMER.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '1' }))
    .setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + 600)
    .build()
  transaction.sign(CUSTOMER)
  return transaction.toXDR()
}
