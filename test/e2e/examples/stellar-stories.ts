import {
  keypairOf,
  payment,
  type SignedPayment,
  type StellarScenario,
  signedPayment,
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
    await replaceBySigned(story)
    await replaceWhatNeverExpires(story)
    await authorizeNothing(story)
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
  const { id } = await story.send(guestPays(story))
  await story.reach(id, 'submitted')
  await story.service.api('DELETE', '/relayers/main/transactions/pending')
  await story.closeUntil(id, 'confirmed')
}

/** A transaction of the guest waits until the payment of the relayer has expired, which a ledger includes before. */
async function replaceBySigned(story: StellarScenario): Promise<void> {
  const { id } = await story.send(payment(XLM))
  await story.reach(id, 'submitted')
  await story.replace(id, guestPays(story))
  await story.closeUntil(id, 'confirmed')
}

/** Nothing but its own sequence number excludes a transaction without time bounds. */
async function replaceWhatNeverExpires(story: StellarScenario): Promise<void> {
  const { id } = await story.send(guestPays(story, 'never'))
  await story.reach(id, 'submitted')
  await story.replace(id, payment(XLM))
  await story.closeUntil(id, 'confirmed')
}

/** The preimage of something else. */
async function authorizeNothing({ service }: StellarScenario): Promise<void> {
  await service.api('POST', '/relayers/main/sign-authorization-entry', { preimage_xdr: 'AAAA' })
}

/** A lumen from the guest to the receiver, signed by the guest. */
function guestPays({ ledger }: StellarScenario, seconds: SignedPayment['seconds'] = 300): object {
  const transaction_xdr = signedPayment(ledger, { keypair: GUEST, seconds })
  return { network: 'standalone', transaction_xdr, fee_bump: true }
}
