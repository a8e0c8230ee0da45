import { setTimeout as pause } from 'node:timers/promises'
import { FeeBumpTransaction, TransactionBuilder } from '@stellar/stellar-sdk'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { hashOf, unwrap, wrapAs } from '../../../simulators/stellar/transaction/wrap.ts'
import type { HistoryRun } from '../history-run.ts'
import {
  ACCOUNTS,
  addressesOf,
  closeLedger,
  type Environment,
  fund,
  listen,
  SHARED,
  STRANGER,
  setBalance,
} from './environment.ts'
import type { Event } from './event.ts'
import { bumpFee, signJump, signPayment, submit } from './signed.ts'

/** Enough to exist, and for a single fee of a quiet network; stroops. */
const POOR = 10_000_300n

/** What an outside transaction offers for each operation, in stroops: as much as anyone, or more than ten times that. */
const OUTSIDE_FEE = 100
const RICH_FEE = 50_000_000

/** How long an outside transaction can be included, in seconds. */
const OUTSIDE_SECONDS = 300

/** What happens to the ledger, its queue and the accounts, and not through the service. */
export type LedgerEvent = Extract<
  Event,
  {
    is:
      | 'close'
      | 'last_second'
      | 'capacity'
      | 'drop_queue'
      | 'external'
      | 'drain'
      | 'fund'
      | 'wrap'
      | 'nodeFault'
      | 'tear'
      | 'jump'
  }
>

/** Lets it happen. */
export async function ledgerEvent(
  environment: Environment,
  run: HistoryRun,
  event: LedgerEvent,
): Promise<void> {
  const { ledger } = environment
  switch (event.is) {
    case 'close':
      return close(environment, run, event)
    case 'last_second':
      return lastSecond(environment, event)
    case 'capacity':
      return ledger.setCapacity(event.operations)
    case 'drop_queue':
      return ledger.dropQueue()
    case 'external':
      return sendExternally(environment, run, event)
    case 'drain':
      for (const address of addressesOf(event.account)) setBalance(ledger, address, POOR)
      return
    case 'fund':
      return fund(environment, event.account)
    case 'wrap':
      return wrap(environment, run, event)
    case 'nodeFault':
      return ledger.setNodeFault(event.nodeFault)
    case 'tear':
      return ledger.tearReads(1)
    case 'jump':
      return jump(environment, run, event)
  }
}

function close(
  environment: Environment,
  { testBed }: HistoryRun,
  { ledgers, after, ahead }: Extract<Event, { is: 'close' }>,
): void {
  if (after > 0) testBed.advance(after * 1_000)
  closeLedger(environment, ahead > 0 ? ahead : undefined)
  for (let count = 1; count < ledgers; count += 1) closeLedger(environment)
}

/** How long the service gets to look at a ledger, in ms. */
const LOOK_MS = 150

/** What the service believes after the first of the two ledgers must be true after the second. */
async function lastSecond(
  environment: Environment,
  { target }: Extract<Event, { is: 'last_second' }>,
): Promise<void> {
  listen(environment)
  const { ledger, gossip } = environment
  const now = ledger.ledgers.at(-1)?.closeTime ?? 0
  const known = [...gossip].filter((envelope) => endOf(ledger, envelope) >= now)
  const envelope = known.at(-1 - (target % Math.max(1, known.length)))
  if (envelope === undefined) return
  ledger.dropQueue()
  closeLedger(environment, endOf(ledger, envelope) - now)
  await pause(LOOK_MS)
  ledger.nominate(envelope)
  closeLedger(environment, 0)
}

/** The last second in which the envelope is valid, since 1970; 0 without an end. */
function endOf({ passphrase }: TestLedger, envelope: string): number {
  const read = TransactionBuilder.fromXDR(envelope, passphrase)
  const { timeBounds } = read instanceof FeeBumpTransaction ? read.innerTransaction : read
  return Number(timeBounds?.maxTime ?? 0)
}

/** CAP-15: nothing ties an inner transaction to its payer. */
async function wrap(
  environment: Environment,
  run: HistoryRun,
  { target, old, rate, plain }: Extract<Event, { is: 'wrap' }>,
): Promise<void> {
  listen(environment)
  const { ledger, gossip } = environment
  const waiting = ledger.queue().map((frame) => frame.envelope.toXdr('base64'))
  const known = old ? [...gossip] : waiting
  const envelope = known.at(-1 - (target % Math.max(1, known.length)))
  if (envelope === undefined) return
  const sent = plain ? unwrap(ledger, envelope) : wrapAs(ledger, STRANGER, envelope, rate)
  const isOutside = run.ledger.external.has(hashOf(ledger, envelope))
  if ((await submit(ledger, sent.envelope)) === 'PENDING' && isOutside) run.ledger.external.add(sent.hash)
}

/** A third party has the same key and leaves some sequence numbers out. */
async function jump(
  { ledger }: Environment,
  run: HistoryRun,
  { account, by }: Extract<Event, { is: 'jump' }>,
): Promise<void> {
  const keypair = ACCOUNTS[account]?.keypair
  if (keypair === undefined || account !== SHARED) return
  const signed = signJump(ledger, { keypair, by, seconds: OUTSIDE_SECONDS, fee: OUTSIDE_FEE })
  const status = await submit(ledger, signed.toXDR())
  if (status === 'PENDING') run.ledger.external.add(Buffer.from(signed.hash()).toString('hex'))
}

/** A third party has the same key and takes the next sequence number of the ledger. */
async function sendExternally(
  { ledger, newContent }: Environment,
  run: HistoryRun,
  { account, rich }: Extract<Event, { is: 'external' }>,
): Promise<void> {
  const keypair = ACCOUNTS[account]?.keypair
  if (keypair === undefined || account !== SHARED) return
  const { amount } = newContent()
  const inner = signPayment(ledger, { keypair, amount, seconds: OUTSIDE_SECONDS, fee: OUTSIDE_FEE })
  const signed = rich ? bumpFee(ledger, inner, keypair, RICH_FEE) : inner
  // A node that has another one of the account, or an account without money: then it simply does not happen.
  const status = await submit(ledger, signed.toXDR())
  if (status === 'PENDING') run.ledger.external.add(Buffer.from(signed.hash()).toString('hex'))
}
