import type { ChainRequest, Unit } from '../chains/chain.ts'
import { AppError } from '../errors.ts'
import type { Network } from '../networks/network.ts'
import { defaultMinBalance } from './policies/policies.ts'
import type { Relayer, RelayerConfig } from './relayer.ts'

/** The zero address and the relayer's own are always allowed: burning and cancelling need no permission. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

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

/** Returns the balance that stays on the account, in the smallest unit. */
export function minBalanceOf({ networkType, policies }: Relayer): bigint {
  return policies.minBalance ?? defaultMinBalance(networkType)
}

/** Returns a problem when the relayer demands EIP-1559 prices on a network without them. */
export function pricingProblem(relayer: RelayerConfig, network: Network | undefined): string | undefined {
  if (relayer.networkType !== 'evm' || network?.type !== 'evm') return undefined
  if (!relayer.policies.eip1559Pricing || network.features.includes('eip1559')) return undefined
  return `relayer "${relayer.id}" wants eip1559_pricing, but network "${network.name}" does not have the feature "eip1559"`
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
  const keep = minBalanceOf(relayer)
  if (balance - reserved - cost >= keep) return undefined
  return new AppError(
    'insufficient_balance',
    `The account can spend ${balance} ${unit}; ${reserved} are reserved for transactions in flight, this one needs up to ${cost} (${COSTS[unit]}), and min_balance keeps ${keep}. Top it up, or lower the amount or the fee.`,
  )
}

const COSTS = { wei: 'value and gas', stroops: 'amount and fee', lamports: 'amount and fee' } as const
