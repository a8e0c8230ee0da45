import type { Stage } from '../stage.ts'
import type { Event } from './event.ts'
import { ACCOUNTS, addressOf, fund, type Ground, setBalance } from './ground.ts'
import { bumpFee, signPayment, submit } from './signed.ts'

/** Enough to exist, and for a single fee of a quiet network; stroops. */
const POOR = 10_000_300n

/** What an outside transaction offers for each operation, in stroops: as much as anybody, or more than ten times that. */
const OUTSIDE_FEE = 100
const RICH_FEE = 50_000_000

/** How long an outside transaction can be included, in seconds. */
const OUTSIDE_SECONDS = 300

/** What happens to the ledger, its queue and the accounts, and not through the service. */
export type LedgerEvent = Extract<
  Event,
  { is: 'close' | 'capacity' | 'drop_queue' | 'external' | 'drain' | 'fund' }
>

/** Lets it happen. */
export async function ledgerEvent(ground: Ground, stage: Stage, event: LedgerEvent): Promise<void> {
  const { ledger } = ground
  switch (event.is) {
    case 'close':
      return close(ground, stage, event)
    case 'capacity':
      return ledger.setCapacity(event.operations)
    case 'drop_queue':
      return ledger.dropQueue()
    case 'external':
      return sendExternally(ground, stage, event)
    case 'drain':
      return setBalance(ledger, addressOf(event.account), POOR)
    case 'fund':
      return fund(ground, event.account)
  }
}

function close(
  { ledger }: Ground,
  { world }: Stage,
  { ledgers, after, ahead }: Extract<Event, { is: 'close' }>,
): void {
  if (after > 0) world.advance(after * 1_000)
  if (ahead > 0) ledger.close({ seconds: ahead })
  else ledger.close()
  ledger.close(ledgers - 1)
}

/** Somebody else has the same key and takes the next sequence number of the ledger. */
async function sendExternally(
  { ledger, newContent }: Ground,
  stage: Stage,
  { account, rich }: Extract<Event, { is: 'external' }>,
): Promise<void> {
  const keypair = (ACCOUNTS[account] ?? ACCOUNTS[0])?.keypair
  if (keypair === undefined) throw new Error('there are no accounts')
  const { amount } = newContent()
  const inner = signPayment(ledger, { keypair, amount, seconds: OUTSIDE_SECONDS, fee: OUTSIDE_FEE })
  const signed = rich ? bumpFee(ledger, inner, keypair, RICH_FEE) : inner
  // A node that has another one of the account, or an account without money: then it simply does not happen.
  const status = await submit(ledger, signed.toXDR())
  if (status === 'PENDING') stage.ledger.external.add(Buffer.from(signed.hash()).toString('hex'))
}
