import { normalized } from '../shared/fields.ts'
import type { World } from '../shared/host.ts'
import { countIn, counts } from '../shared/windows.ts'
import type { Limit } from './config.ts'
import { Refusal } from './refusal.ts'
import type { PaymentRequest } from './wire.ts'

/** A payment that is about to be sent. */
export interface Claim {
  readonly request: PaymentRequest
  readonly payer: string
  /** What it moves. */
  readonly amount: bigint
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * Counts a payment for every limit that applies to it. If the process dies before the payment is sent, it is
 * counted again when it is requested again: a limit may be reached too early, never too late.
 * @throws Refusal `limit_exceeded`; the limits before the exceeded one have counted it
 */
export async function countPayment(claim: Claim, limits: readonly Limit[], world: World): Promise<void> {
  const { asset } = claim.request.requirements
  const { amount } = claim
  const beyond = (message: string) => new Refusal('limit_exceeded', message, claim.payer)
  for (const limit of limits) {
    if (limit.asset !== undefined && normalized(asset) !== limit.asset) continue
    if (!counts(limit, claim.caller)) continue
    await countIn(limit, { who: [limit.asset ?? '', countedTogether(limit, claim)], amount, beyond }, world)
  }
}

function countedTogether({ per }: Limit, { request, caller }: Claim): string {
  const { network, requirements } = request
  if (per === 'payee') return `${network.network} ${normalized(requirements.payTo)}`
  return per === 'key' ? caller : ''
}
