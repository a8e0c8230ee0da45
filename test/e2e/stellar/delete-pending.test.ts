import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import {
  keypairOf,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'

/** Somebody who signs for an own sequence number and lets the relayer pay. */
const GUEST = keypairOf('guest')

let story: StellarScenario

beforeAll(async () => {
  story = await startStellarScenario()
  story.ledger.fund(GUEST.publicKey(), 100n * XLM)
})
afterAll(() => story.stop())

test('DELETE …/transactions/pending: each with its honest outcome', async () => {
  const before = story.ledger.account(RECEIVER)?.balance
  const first = await story.send(payment(XLM))
  await story.reach(first.id, 'submitted')
  const behind = await story.send(payment(2n * XLM))
  const externallySigned = await story.send({
    network: 'standalone',
    transaction_xdr: guestPays(),
    fee_bump: true,
  })
  await story.reach(externallySigned.id, 'submitted')

  const { status, body } = await story.service.api<Schemas['PendingCancellation']>(
    'DELETE',
    '/relayers/main/transactions/pending',
  )
  expect({ status, data: body.data }).toMatchObject({
    status: 200,
    data: {
      queued_for_cancellation_transaction_ids: [behind.id, first.id],
      failed_to_queue_transaction_ids: [externallySigned.id],
      failures: [{ transaction_id: externallySigned.id, code: 'not_supported' }],
      total_processed: 3,
      remaining: 0,
    },
  })
  for (const { id } of [first, behind]) await story.closeUntil(id, 'canceled')
  await story.closeUntil(externallySigned.id, 'confirmed')
  expect(story.ledger.account(RECEIVER)?.balance).toBe((before ?? 0n) + XLM)
})

/** A lumen from the guest to the receiver, signed by the guest. */
function guestPays(): string {
  const { sequence } = story.ledger.account(GUEST.publicKey()) ?? { sequence: 0n }
  const transaction = new TransactionBuilder(new Account(GUEST.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: story.ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '1' }))
    .setTimebounds(0, (story.ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
    .build()
  transaction.sign(GUEST)
  return transaction.toXDR()
}
