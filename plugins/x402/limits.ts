import { createHash } from 'node:crypto'
import { normalized } from '../shared/fields.ts'
import { isRecord, locked, type World } from '../shared/host.ts'
import type { Limit } from './config.ts'
import { Refusal } from './refusal.ts'
import type { PaymentRequest } from './wire.ts'

/** What the service puts in place of the id of an API key where callers need none. */
const NO_KEY = '(anonymous)'

/** A payment that is about to be sent. */
export interface Claim {
  readonly request: PaymentRequest
  readonly payer: string
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * Counts a payment for every limit that applies to it. If the process dies before the payment is sent, it is
 * counted again when it is requested again: a limit may be reached too early, never too late.
 * @throws Refusal `limit_exceeded`; the limits before the exceeded one have counted it
 */
export async function countPayment(claim: Claim, limits: readonly Limit[], world: World): Promise<void> {
  const { amount, asset } = claim.request.requirements
  for (const limit of limits) {
    if (limit.asset !== undefined && normalized(asset) !== limit.asset) continue
    if (limit.per === 'open' && claim.caller !== NO_KEY) continue
    const key = counterKey(limit, claim, world.now())
    await locked(world, `${key}:lock`, async () => {
      const count = readCount(await world.kv.get(key))
      const settlements = count.settlements + 1
      const total = count.amount + amount
      const isBeyond =
        (limit.settlements !== undefined && settlements > limit.settlements) ||
        (limit.amount !== undefined && total > limit.amount)
      if (isBeyond) {
        const message = `The limit per ${limit.per} in ${limit.windowSeconds} seconds is reached.`
        throw new Refusal('limit_exceeded', message, claim.payer)
      }
      await world.kv.set(key, { settlements, amount: total.toString() }, { ttlSec: limit.windowSeconds })
    })
  }
}

function readCount(value: unknown): { readonly settlements: number; readonly amount: bigint } {
  if (!isRecord(value)) return { settlements: 0, amount: 0n }
  return { settlements: Number(value.settlements), amount: BigInt(String(value.amount)) }
}

/** Windows begin at multiples of their length since 1970, in all processes at once. */
function counterKey(limit: Limit, { request, caller }: Claim, now: number): string {
  const { per, windowSeconds, asset } = limit
  const who = {
    all: '',
    open: '',
    key: caller,
    payee: `${request.network.network} ${normalized(request.requirements.payTo)}`,
  }[per]
  const parts = [per, windowSeconds, asset ?? '', who, Math.floor(now / 1000 / windowSeconds)]
  return `count:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`
}
