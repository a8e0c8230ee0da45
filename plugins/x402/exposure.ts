import { normalized } from '../shared/fields.ts'
import { isRecord, locked, type World } from '../shared/host.ts'
import { type Asked, digest, findByKey, isEnded, paymentKey } from './asked.ts'
import type { NetworkSettings, Settings } from './config.ts'
import { Refusal } from './refusal.ts'
import type { Verified } from './scheme.ts'

// What payers cost the relayer if their payments fail: by default a payer can lose his own money only, and failures are bounded per payer, per payee
// and in all. Values of the plugin remember what is open and what failed; whatever became of a transaction is asked of the service.

/** A payment that was sent and is not known to have ended. */
interface Open {
  /** Its idempotency key. */
  readonly key: string
  readonly asset: string
  readonly amount: string
  readonly payee: string
  /** When it was accepted, in milliseconds. */
  readonly at: number
  /** True when a block includes it, so that the payer's balance shows it. */
  readonly isIncluded?: boolean
}

/** A payment that failed at the relayer's cost. */
interface Failed {
  readonly payee: string
  readonly at: number
}

/** What is known of a payer, or of all whose payments are uncertain. */
interface Exposure {
  readonly open: readonly Open[]
  readonly failed: readonly Failed[]
}

/** Failures count for a day. */
const FAILURE_MS = 86_400_000

/** What is remembered is forgotten after two, so that nothing of a payer stays. */
const KEEP_SECONDS = 172_800

/** A payment of which the service knows nothing after this time was never sent. */
const UNSENT_MS = 60_000

/** Payments of one payer that are open at the same time. */
const MAX_OPEN_OF_PAYER = 50

/** How long what a transaction was counts as what it is: whoever waits for it looks himself. */
const RECENT_MS = 5_000

/**
 * Admits a payment of a payer, and sends it: alone among those of the payer, so that what is open counts against what the payer has.
 * @throws Refusal `insufficient_funds` or `limit_exceeded`
 */
export async function admitPayment<Result>(
  asked: Asked,
  { settings, world }: { readonly settings: Settings; readonly world: World },
  { verify, send }: { verify(): Promise<Verified>; send(verified: Verified): Promise<Result> },
): Promise<Result> {
  const { payer } = asked.payment
  const key = payerKey(asked)
  return locked(world, `${key}:lock`, async () => {
    const known = await refresh(await read(key, asked, world), asked, { world, olderMs: 0 })
    const { failures } = settings
    if (known.failed.length >= failures.payer)
      throw limit(`${known.failed.length} payments of this payer failed within a day.`, payer)
    if (known.open.length >= MAX_OPEN_OF_PAYER)
      throw limit(`${known.open.length} payments of this payer are open.`, payer)
    const verified = await verify()
    const current = await withFunds(asked, { known, verified }, world)
    const uncertain = verified.isUncertain ? await admitUncertain(asked, { settings, world }) : undefined
    await store(key, { ...current, open: [...current.open, openOf(asked, world.now())] }, world)
    try {
      return await send(verified)
    } catch (error) {
      if (error instanceof Refusal) {
        await store(key, current, world)
        if (uncertain !== undefined) await forget(uncertain, asked, world)
      }
      throw error
    }
  })
}

/** Notes that a payment ended. What nobody waits for is found later. */
export async function notePaymentEnd(
  asked: Asked,
  end: 'paid' | 'failed' | 'not sent',
  world: World,
): Promise<void> {
  for (const key of [payerKey(asked), uncertainKey(asked.request.network)])
    await locked(world, `${key}:lock`, async () => {
      const { open, failed, hadThis } = await read(key, asked, world)
      if (!hadThis) return
      const ended = end === 'failed' ? [failedOf(openOf(asked, world.now()), world)] : []
      await store(key, { open, failed: [...failed, ...ended] }, world)
    })
}

function limit(message: string, payer: string): Refusal {
  return new Refusal('limit_exceeded', `${message} Try again later.`, payer)
}

function payerKey({ request, payment }: Asked): string {
  return `payer:${digest([request.network.network, payment.payer])}`
}

function uncertainKey({ network }: NetworkSettings): string {
  return `uncertain:${network}`
}

function openOf(asked: Asked, at: number): Open {
  const { asset, payTo, amount } = asked.request.requirements
  return {
    key: paymentKey(asked),
    asset: normalized(asset),
    amount: amount.toString(),
    payee: digest([normalized(payTo)]),
    at,
  }
}

function failedOf({ payee }: Open, world: World): Failed {
  return { payee, at: world.now() }
}

/** Compares what the payer has with what is open and with this payment. A payment that a block has included meanwhile is looked at once more. */
async function withFunds(
  asked: Asked,
  { known, verified }: { readonly known: Exposure; readonly verified: Verified },
  world: World,
): Promise<Exposure> {
  const { amount, asset } = asked.request.requirements
  const { funds } = verified
  const waiting = ({ open }: Exposure) =>
    open
      .filter((each) => each.asset === normalized(asset) && each.isIncluded !== true)
      .reduce((sum, each) => sum + BigInt(each.amount), 0n)
  if (funds === undefined || waiting(known) + amount <= funds) return known
  const now = await refresh(known, asked, { world, olderMs: 0 })
  if (waiting(now) + amount <= funds) return now
  throw new Refusal(
    'insufficient_funds',
    `The payer has ${funds}, payments of ${waiting(now)} are not included yet, and ${amount} are needed.`,
    asked.payment.payer,
  )
}

/** Counts a payment that a stranger's code decides about. @throws Refusal `limit_exceeded` */
async function admitUncertain(
  asked: Asked,
  { settings: { failures }, world }: { readonly settings: Settings; readonly world: World },
): Promise<string> {
  const key = uncertainKey(asked.request.network)
  const { payer } = asked.payment
  const entry = openOf(asked, world.now())
  await locked(world, `${key}:lock`, async () => {
    const known = await refresh(await read(key, asked, world), asked, { world, olderMs: RECENT_MS })
    const ofPayee = known.failed.filter(({ payee }) => payee === entry.payee).length
    const why =
      'Payments by contracts, with assertions, and in assets that are not listed are refused meanwhile.'
    if (known.failed.length >= failures.all)
      throw limit(`${known.failed.length} payments failed within a day. ${why}`, payer)
    if (ofPayee >= failures.payee)
      throw limit(`${ofPayee} payments to this payee failed within a day. ${why}`, payer)
    if (known.open.length >= failures.open) throw limit(`${known.open.length} payments wait. ${why}`, payer)
    await store(key, { ...known, open: [...known.open, entry] }, world)
  })
  return key
}

async function forget(key: string, asked: Asked, world: World): Promise<void> {
  await locked(world, `${key}:lock`, async () => {
    await store(key, await read(key, asked, world), world)
  })
}

/** Reads what is known without this payment: a process may have died after it noted it, and before it sent it. */
async function read(
  key: string,
  asked: Asked,
  world: World,
): Promise<Exposure & { readonly hadThis: boolean }> {
  const value = await world.kv.get(key)
  if (!isRecord(value)) return { open: [], failed: [], hadThis: false }
  const { open, failed } = value as unknown as Exposure
  const others = open.filter((each) => each.key !== paymentKey(asked))
  return {
    open: others,
    failed: failed.filter(({ at }) => world.now() - at < FAILURE_MS),
    hadThis: others.length < open.length,
  }
}

async function store(key: string, { open, failed }: Exposure, world: World): Promise<void> {
  if (open.length === 0 && failed.length === 0) await world.kv.del(key)
  else await world.kv.set(key, { open, failed }, { ttlSec: KEEP_SECONDS })
}

/** Asks the service what became of the payments that are open for longer than so many milliseconds. */
async function refresh(
  { open, failed }: Exposure,
  { request: { network } }: Asked,
  { world, olderMs }: { readonly world: World; readonly olderMs: number },
): Promise<Exposure> {
  const now = world.now()
  const looked = await Promise.all(
    open.map(async (each) => {
      if (now - each.at < olderMs) return { each, end: undefined }
      const found = await findByKey(network.relayerId, each.key, world)
      if (found === undefined) return { each, end: now - each.at > UNSENT_MS ? 'not sent' : undefined }
      if (isEnded(found.status))
        return { each, end: found.status === 'failed' && found.hash !== undefined ? 'failed' : 'not sent' }
      if (found.status === 'confirmed') return { each, end: 'paid' }
      return { each: { ...each, isIncluded: found.status === 'mined' }, end: undefined }
    }),
  )
  return {
    open: looked.flatMap(({ each, end }) => (end === undefined ? [each] : [])),
    failed: [
      ...failed,
      ...looked.flatMap(({ each, end }) => (end === 'failed' ? [failedOf(each, world)] : [])),
    ],
  }
}
