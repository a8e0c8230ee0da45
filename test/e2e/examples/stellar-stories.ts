import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import {
  keypairOf,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import type { Heard } from './heard.ts'

/** An account that signs for its own sequence number and lets the relayer pay. */
const GUEST = keypairOf('guest')

/** Lets a service on a Stellar ledger say what the examples of Stellar let it say. */
export async function playOnStellar(heard: Heard): Promise<void> {
  const scenario = await startStellarScenario()
  const { ledger, service } = scenario
  const story = stellarScenarioOf(ledger, heard.listen(service))
  try {
    ledger.fund(GUEST.publicKey(), 100n * XLM)
    await cancelWhatOthersSigned(story)
    const sent = await story.send(payment(XLM))
    await story.reach(sent.id, 'submitted')
    await story.replace(sent.id, payment(2n * XLM))
    await story.closeUntil(sent.id, 'confirmed')
  } finally {
    await scenario.stop()
  }
}

/** Only the account that signed it can cancel it. */
async function cancelWhatOthersSigned(story: StellarScenario): Promise<void> {
  const body = { network: 'standalone', transaction_xdr: guestPays(story), fee_bump: true }
  const { id } = await story.send(body)
  await story.reach(id, 'submitted')
  await story.service.api('DELETE', '/relayers/main/transactions/pending')
  await story.closeUntil(id, 'confirmed')
}

/** A lumen from the guest to the receiver, signed by the guest. */
function guestPays({ ledger }: StellarScenario): string {
  const { sequence } = ledger.account(GUEST.publicKey()) ?? { sequence: 0n }
  const transaction = new TransactionBuilder(new Account(GUEST.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '1' }))
    .setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
    .build()
  transaction.sign(GUEST)
  return transaction.toXDR()
}
