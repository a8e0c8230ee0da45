import {
  admit,
  blockOf,
  type Claim,
  type ExposureRules,
  type Found,
  isReverted,
  noteEnd,
  type Open,
} from '../shared/exposure.ts'
import { ApiRefusal, callApi, isRecord } from '../shared/host.ts'
import { KoraError } from './errors.ts'
import { checkPayment, findPayment, type Payment } from './payment.ts'
import type { Sponsor } from './sponsor.ts'
import { countInstructions } from './transactions/rules.ts'
import type { UserTransaction } from './transactions/transaction.ts'

/** A transaction as the service shows it; the fields that are read here. */
export interface Sent {
  readonly id: string
  readonly relayer_id: string
  readonly status: string
  readonly status_reason?: string
  /** The signature, as soon as there is one. */
  readonly hash?: string
  /** The block that includes it; absent until one does. */
  readonly receipt?: { readonly slot?: number }
  /** Absent in lists. */
  readonly attempts?: readonly { readonly outcome: string }[]
}

/** The name of a transaction: the hash of its message, which is its idempotency key. */
export function nameOf({ hash }: Pick<UserTransaction, 'hash'>): string {
  return `kora:${hash}`
}

/** Finds a transaction that this plugin has sent by this relayer, or by another one of the pool. */
export async function find(
  { world, relayerId }: Pick<Sponsor, 'world' | 'relayerId'>,
  key: string,
): Promise<Sent | undefined> {
  const query = new URLSearchParams({ relayer_id: relayerId, idempotency_key: key })
  const found = await callApi(world, { method: 'GET', path: `/api/v1/transactions?${query}` })
  return Array.isArray(found) ? (found[0] as Sent | undefined) : undefined
}

/** Reads a transaction of a list with its attempts. */
async function readWhole({ world }: Sponsor, { id, relayer_id }: Sent): Promise<Sent> {
  const path = `/api/v1/relayers/${encodeURIComponent(relayer_id)}/transactions/${id}`
  return (await callApi(world, { method: 'GET', path })) as Sent
}

/**
 * Checks a transaction, and signs or sends it, if it and what else is open of its payer cannot cost the
 * relayer more than the operator allows.
 * @throws KoraError
 */
export async function admitTransaction<Result>(
  sponsor: Sponsor,
  { transaction, userId }: { readonly transaction: UserTransaction; readonly userId: string },
  act: () => Promise<Result>,
): Promise<Result> {
  const payment = await findPayment(sponsor, transaction)
  const rules: ExposureRules = {
    world: sponsor.world,
    limits: sponsor.settings.failures,
    look: (open) => look(sponsor, open),
    overLimit: (message) => new KoraError('UsageLimitExceeded', `${message} Try again later.`),
    underfunded: (message) => new KoraError('InsufficientFunds', message),
    isRefusal: (error) => error instanceof KoraError || error instanceof ApiRefusal,
  }
  const check = async () => ({
    ...(await checkPayment(sponsor, transaction, payment)),
    isUncertain: transaction.isUncertain,
  })
  const send = async () => {
    await countInstructions(transaction, sponsor.settings.rules, { userId, world: sponsor.world })
    return act()
  }
  return admit(claimOf(sponsor, transaction, payment), rules, { check, send })
}

/**
 * The relayers of a pool lose together: what a user has open with one of them counts for all of them, because
 * he has his funds once. The first one names the pool.
 */
function poolName({ settings }: Sponsor): string {
  return settings.pool[0]?.id ?? ''
}

/**
 * What nobody has signed yet is counted apart: a stranger who names an account that is not his takes nothing
 * from its owner, and an owner who signs afterwards has twice what he could otherwise lose the relayer.
 */
function claimOf(sponsor: Sponsor, transaction: UserTransaction, payment: Payment | undefined): Claim {
  const { user, isSigned } = transaction
  return {
    payer: `${poolName(sponsor)}:${user}${isSigned ? '' : ':unsigned'}`,
    group: poolName(sponsor),
    entry: {
      key: nameOf(transaction),
      unit: payment?.source ?? '',
      amount: (payment?.amount ?? 0n).toString(),
      payee: '',
    },
  }
}

/** Notes what became of a transaction that was sent. */
export async function noteTransactionEnd(
  sponsor: Sponsor,
  transaction: UserTransaction,
  sent: Sent,
): Promise<void> {
  const end = endOf(sent)
  if (end === 'open' || end === 'reverted') return
  await noteEnd(claimOf(sponsor, transaction, undefined), { end, block: blockOf(sent) }, sponsor.world)
}

function endOf(sent: Sent): 'failed' | 'reverted' | 'ended' | 'open' {
  const { status, hash } = sent
  if (status === 'failed' && hash !== undefined) return 'failed'
  if (status === 'mined' && isReverted(sent)) return 'reverted'
  return DONE.includes(status) ? 'ended' : 'open'
}

const DONE = ['mined', 'confirmed', 'failed', 'canceled', 'expired']

/** No block can include a transaction whose blockhash is older, in ms; blocks take up to a second. */
const EXPIRY_MS = 150_000

/** Remembers the signature of what callers send themselves, as long as a block can include it. */
export async function rememberSignature(
  { world }: Sponsor,
  transaction: UserTransaction,
  signature: string,
): Promise<void> {
  await world.kv.set(`signed:${nameOf(transaction)}`, signature, { ttlSec: EXPIRY_MS / 500 })
}

/** Finds a signature of what callers send themselves; undefined after its life. */
export async function recallSignature(
  { world }: Sponsor,
  transaction: UserTransaction,
): Promise<string | undefined> {
  const signature = await world.kv.get(`signed:${nameOf(transaction)}`)
  return typeof signature === 'string' ? signature : undefined
}

async function look(sponsor: Sponsor, { key, at }: Open): Promise<Found> {
  const { world, settings } = sponsor
  const sent = await Promise.all(settings.pool.map(({ id }) => find({ world, relayerId: id }, key)))
  const found = sent.find((one) => one !== undefined)
  if (found !== undefined) {
    const whole = found.status === 'mined' ? await readWhole(sponsor, found) : found
    return { end: endOf(whole), block: blockOf(whole) }
  }
  const signature = await sponsor.world.kv.get(`signed:${key}`)
  const status = typeof signature === 'string' ? await readStatus(sponsor, signature) : undefined
  return status ?? { end: sponsor.world.now() - at > EXPIRY_MS ? 'ended' : 'open', block: undefined }
}

async function readStatus({ rpc }: Sponsor, signature: string): Promise<Found | undefined> {
  const { value } = await rpc<{ value: readonly unknown[] }>('getSignatureStatuses', [[signature]])
  const [status] = value
  if (!isRecord(status) || status.confirmationStatus === 'processed') return undefined
  return { end: status.err === null ? 'ended' : 'failed', block: Number(status.slot) }
}
