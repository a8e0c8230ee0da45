import {
  admit,
  blockOf,
  type Claim,
  type Ended,
  type ExposureRules,
  type Found,
  isReverted,
  noteEnd,
  type Open,
} from '../shared/exposure.ts'
import { normalized } from '../shared/fields.ts'
import { NodeError, rpcOf, Unavailable, type World } from '../shared/host.ts'
import { digest, findByKey, isEnded, readWhole, type SentTransaction } from '../shared/transactions.ts'
import { type Asked, paymentKey } from './asked.ts'
import { relayersOf, type Settings } from './config.ts'
import { Refusal } from './refusal.ts'
import { shownIn, type Verified } from './scheme.ts'

/** A payment of which the service knows nothing after this time was never sent. */
const UNSENT_MS = 60_000

/**
 * Verifies and sends a payment, if it and what else is open of its payer cannot cost the relayer more than
 * the operator allows.
 * @throws Refusal `insufficient_funds` or `limit_exceeded`
 */
export function admitPayment<Result>(
  asked: Asked,
  { settings, world }: { readonly settings: Settings; readonly world: World },
  steps: { check(): Promise<Verified>; send(verified: Verified): Promise<Result> },
): Promise<Result> {
  return admit(claimOf(asked), rulesFor(asked, settings, world), steps)
}

/** Sends the gas of an approval to its payer, likewise. @throws Refusal `limit_exceeded` */
export function admitApproval<Result>(
  asked: Asked,
  { key, settings, world }: { readonly key: string; readonly settings: Settings; readonly world: World },
  send: () => Promise<Result>,
): Promise<Result> {
  const checked = { funds: undefined, block: undefined, isUncertain: true }
  const steps = { check: async () => checked, send }
  return admit(claimOfApproval(asked, key), rulesFor(asked, settings, world), steps)
}

/**
 * Names the gas of an approval among what is open of its payer, who has one at a time. Those that fail count
 * for themselves, so that they keep no wallets from paying.
 */
export function claimOfApproval(asked: Asked, key: string): Claim {
  const { payer, group, entry } = claimOf(asked)
  return {
    payer,
    group: `${group}:approvals`,
    entry: { ...entry, key, unit: 'gas', amount: '0', slots: ['gas'] },
  }
}

function rulesFor(asked: Asked, settings: Settings, world: World): ExposureRules {
  const { payer } = asked.payment
  const { network } = asked.request
  const relayers = relayersOf(settings.networks.get(network.network) ?? network)
  return {
    world,
    limits: settings.failures,
    look: (open) =>
      open.unit === 'gas' ? lookAtApproval(open, settings, world) : look(open, relayers, world),
    overLimit: (message) => new Refusal('limit_exceeded', `${message} Try again later.`, payer),
    underfunded: (message) => new Refusal('insufficient_funds', message, payer),
    occupied: () =>
      new Refusal(
        'limit_exceeded',
        'Another payment of this payer by the same allowance or delegation waits for its block. Settle this one afterwards.',
        payer,
      ),
    isRefusal: (error) => error instanceof Refusal,
  }
}

/** The process that waits for an approval notes its end. If it died, only the gas that was given counts. */
async function lookAtApproval({ at }: Open, { timeoutMs }: Settings, world: World): Promise<Found> {
  return { end: world.now() - at > timeoutMs + UNSENT_MS ? 'ended' : 'open', block: undefined }
}

/** Notes that a payment ended, with its transaction as it is then. */
export function notePaymentEnd(
  asked: Asked,
  { end, seen }: { readonly end: Ended['end']; readonly seen: SentTransaction },
  world: World,
): Promise<void> {
  return noteEnd(claimOf(asked), { end, block: blockOf(seen) }, world)
}

function claimOf(asked: Asked): Claim {
  const { network, requirements } = asked.request
  const { receivers, amount } = asked.payment
  return {
    payer: digest([network.network, asked.payment.payer]),
    group: network.network,
    entry: {
      key: paymentKey(asked),
      unit: normalized(requirements.asset),
      amount: amount.toString(),
      payee: digest([normalized(requirements.payTo)]),
      slots: asked.payment.slots,
      ...(receivers.length > 0 && { receivers }),
    },
  }
}

async function look(open: Open, relayers: readonly string[], world: World): Promise<Found> {
  const { key, at } = open
  for (const relayerId of relayers) {
    const found = await findByKey(relayerId, key, world)
    if (found === undefined) continue
    const seen = found.status === 'mined' ? await readWhole(relayerId, found, world) : found
    return { end: await provenEnd(open, { seen, relayerId, world }), block: blockOf(seen) }
  }
  return { end: world.now() - at > UNSENT_MS ? 'ended' : 'open', block: undefined }
}

/** What succeeded without paying failed at the relayer's cost. While no node tells, it is open. */
async function provenEnd(
  { receivers, unit, amount }: Open,
  {
    seen,
    relayerId,
    world,
  }: { readonly seen: SentTransaction; readonly relayerId: string; readonly world: World },
): Promise<Found['end']> {
  const end = endOf(seen)
  const { hash, status } = seen
  if (receivers === undefined || hash === undefined || !(end === 'included' || status === 'confirmed'))
    return end
  const proof = { asset: unit, amount: BigInt(amount), receivers }
  const outcome = await shownIn(hash, proof, rpcOf(world, relayerId)).catch((error: unknown) => {
    if (error instanceof NodeError || error instanceof Unavailable) return 'unknown'
    throw error
  })
  if (outcome === 'paid') return end
  if (outcome === 'unknown') return 'open'
  return end === 'included' ? 'reverted' : 'failed'
}

function endOf(seen: SentTransaction): Found['end'] {
  const { status, hash } = seen
  if (isEnded(status)) return status === 'failed' && hash !== undefined ? 'failed' : 'ended'
  if (status === 'confirmed') return 'ended'
  if (status !== 'mined') return 'open'
  return isReverted(seen) ? 'reverted' : 'included'
}
