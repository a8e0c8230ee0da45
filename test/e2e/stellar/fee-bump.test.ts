import { Account, Asset, Networks, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  keypairOf,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'

const CUSTOMER = keypairOf('customer')

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario({ relayer: { policies: { max_fee: 5_000_000 } } })
  scenario.ledger.fund(CUSTOMER.publicKey(), 10n * XLM)
})
afterAll(() => scenario.stop())

/** A payment that the customer has signed, with the next sequence number. */
function signedByCustomer({ seconds = 60, amount = '1' } = {}): string {
  const { ledger } = scenario
  const { sequence } = ledger.account(CUSTOMER.publicKey()) ?? { sequence: 0n }
  const time = ledger.ledgers.at(-1)?.closeTime ?? 0
  const transaction = new TransactionBuilder(new Account(CUSTOMER.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount }))
    .setTimebounds(0, time + seconds)
    .build()
  transaction.sign(CUSTOMER)
  return transaction.toXDR()
}

const bump = (transaction_xdr: string, more = {}) => ({
  network: 'standalone',
  transaction_xdr,
  fee_bump: true,
  ...more,
})

describe('a signed transaction in a fee bump', () => {
  test('is paid by the relayer and keeps the sequence number of its signer', async () => {
    const { ledger, send, reach, closeUntil } = scenario
    const customer = ledger.account(CUSTOMER.publicKey())
    const { id } = await send(bump(signedByCustomer()))
    const submitted = await reach(id, 'submitted')
    expect(submitted).toMatchObject({ source_account: CUSTOMER.publicKey(), fee_bump: true })
    await closeUntil(id, 'confirmed')
    expect(ledger.account(CUSTOMER.publicKey())?.balance).toBe((customer?.balance ?? 0n) - XLM)
  })

  test('is accepted once', async () => {
    const { service, send, closeUntil } = scenario
    const body = bump(signedByCustomer())
    const { id } = await send(body)
    const again = await service.api('POST', '/relayers/main/transactions', body)
    expect(again).toMatchObject({ status: 400, body: { code: 'already_accepted' } })
    await closeUntil(id, 'confirmed')
  })

  test('cannot wait for a later time, at which its sequence number may be used', async () => {
    const valid_from = new Date(Date.now() + 5_000).toISOString()
    const answer = await scenario.post(bump(signedByCustomer(), { valid_from }))
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body.error).toMatch(/^valid_from: not expected with content that others have signed/)
  })

  test('can be paid more, and nothing else; and not be canceled', async () => {
    const { send, reach, replace, cancel, closeUntil } = scenario
    const xdr = signedByCustomer()
    const { id } = await send(bump(xdr))
    const first = await reach(id, 'submitted')
    expect(await replace(id, bump(xdr, { max_fee: 5_000_000 }))).toMatchObject({
      status: 200,
    })
    expect((await cancel(id)).body).toMatchObject({ code: 'not_supported' })
    const confirmed = await closeUntil(id, 'confirmed')
    expect(confirmed.hash).not.toBe(first.hash)
  })

  test('expires with its time bounds, by the proof of the ledger', async () => {
    const { ledger, send, reach } = scenario
    const { id } = await send(bump(signedByCustomer({ seconds: 30 })))
    await reach(id, 'submitted')
    ledger.setCapacity(0)
    ledger.close({ seconds: 31 })
    ledger.setCapacity(1_000)
    await reach(id, 'expired')
  })

  test.each([
    { name: 'unsigned', xdr: () => unsigned(), error: /fee_bump|signed/ },
    { name: 'signed for another network', xdr: () => foreignNetwork(), error: /signature|network/ },
    { name: 'not XDR', xdr: () => 'AAAA', error: /transaction_xdr/ },
  ])('$name is refused with the field named', async ({ xdr, error }) => {
    const answer = await scenario.service.api('POST', '/relayers/main/transactions', bump(xdr()))
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(error)
  })
})

function unsigned(): string {
  return build(scenario.ledger.passphrase).toXDR()
}

function foreignNetwork(): string {
  const transaction = build(Networks.PUBLIC)
  transaction.sign(CUSTOMER)
  return transaction.toXDR()
}

function build(networkPassphrase: string) {
  return new TransactionBuilder(new Account(CUSTOMER.publicKey(), '1'), { fee: '100', networkPassphrase })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '1' }))
    .setTimeout(300)
    .build()
}
