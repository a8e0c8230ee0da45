import type { ChainRequest, Unit } from '../chains/chain.ts'
import { AppError } from '../errors.ts'
import type { Relayer } from './relayer.ts'

/** The zero address and the relayer's own are always allowed: burning and cancelling need no permission. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

/** What must stay when `min_balance` is not configured: a wei, a tenth of a lumen, a hundredth of a SOL. */
const DEFAULT_MIN_BALANCES = { wei: 1n, stroops: 1_000_000n, lamports: 10_000_000n } as const

/** Why this relayer signs nothing at present, or nothing. */
export function inactive(relayer: Relayer): AppError | undefined {
  if (relayer.paused) {
    return new AppError(
      'relayer_paused',
      `Relayer ${relayer.id} is paused; it signs nothing until it is resumed.`,
    )
  }
  if (relayer.systemDisabled) {
    const reason = relayer.disabledReason?.details ?? 'A health check failed.'
    return new AppError('relayer_disabled', `Relayer ${relayer.id} was disabled by the service. ${reason}`)
  }
  return undefined
}

/**
 * Why this receiver is not allowed, or nothing. A contract creation has no receiver, so a whitelist forbids it; an empty
 * whitelist allows nobody.
 */
export function receiverForbidden(relayer: Relayer, request: ChainRequest): AppError | undefined {
  if (relayer.networkType !== 'evm' || request.type !== 'evm') return undefined
  const whitelist = relayer.policies.whitelistReceivers
  if (whitelist === undefined) return undefined
  const allowed = new Set(
    [...whitelist, ZERO_ADDRESS, relayer.address].map((address) => address.toLowerCase()),
  )
  if (request.to !== undefined && allowed.has(request.to.toLowerCase())) return undefined
  const given = request.to ?? 'a contract creation'
  return new AppError(
    'receiver_not_whitelisted',
    `to: one of the relayer's whitelist_receivers is expected, not ${given}.`,
  )
}

/** What has to stay on the account, in the smallest unit. */
export function minBalanceOf({ policies }: Relayer, unit: Unit): bigint {
  return policies.minBalance ?? DEFAULT_MIN_BALANCES[unit]
}

/** Amounts in the network's smallest unit. */
interface Funds {
  readonly unit: Unit
  /** Spendable on the chain now. */
  readonly balance: bigint
  /** What everything accepted and not yet included can still take. */
  readonly reserved: bigint
  /** What this request can take. */
  readonly cost: bigint
}

/** Why the account cannot pay for this on top of everything in flight, or nothing. */
export function shortOfFunds(
  relayer: Relayer,
  { unit, balance, reserved, cost }: Funds,
): AppError | undefined {
  const keep = minBalanceOf(relayer, unit)
  if (balance - reserved - cost >= keep) return undefined
  return new AppError(
    'insufficient_balance',
    `The account can spend ${balance} ${unit}; ${reserved} are reserved for transactions in flight, this one needs up to ${cost} (${COSTS[unit]}), and min_balance keeps ${keep}. Top it up, or lower the amount or the fee.`,
  )
}

const COSTS = { wei: 'value and gas', stroops: 'amount and fee', lamports: 'amount and fee' } as const
