import type { Unit } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { SponsoringPolicies } from '../../chains/sponsoring.ts'
import type { StellarPolicies } from '../../chains/stellar/content.ts'
import { AppError } from '../../errors.ts'
import { type Network, networkId, privateUrlsOf } from '../../networks/network.ts'
import { networksIn } from '../../spending/rules.ts'
import { nameOfAccount, poolIdOf } from '../accounts/pool.ts'
import type { Relayer, RelayerConfig } from '../relayer.ts'
import { defaultMinBalance } from './policies.ts'

/**
 * A whitelist always allows the zero address and the relayer's own: burning and cancelling need no
 * permission.
 */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

/** Returns the error of a relayer that signs nothing now; undefined for an active one. */
export function inactive(relayer: Relayer): AppError | undefined {
  if (relayer.paused) {
    return new AppError(
      'relayer_paused',
      `Relayer ${poolIdOf(relayer.id)} is paused; it signs nothing until it is resumed.`,
    )
  }
  if (relayer.systemDisabled) {
    const reason = relayer.disabledReason?.details ?? 'A health check failed.'
    return new AppError(
      'relayer_disabled',
      `${nameOfAccount(relayer)} was disabled by the service. ${reason}`,
    )
  }
  return undefined
}

/**
 * Returns the error of a receiver that the whitelist forbids; undefined for an allowed one. A contract
 * creation has no receiver, so a whitelist forbids it. An empty whitelist forbids every receiver.
 */
export function receiverForbidden(relayer: Relayer, request: ChainRequest): AppError | undefined {
  const { policies } = relayer
  const whitelist = 'whitelistReceivers' in policies ? policies.whitelistReceivers : undefined
  if (whitelist === undefined) return undefined
  const to = FAMILIES[request.type].content.receiver?.(request)
  const allowed = new Set(
    [...whitelist, ZERO_ADDRESS, relayer.address].map((address) => address.toLowerCase()),
  )
  if (to !== undefined && allowed.has(to.toLowerCase())) return undefined
  const receiver = to ?? 'a contract creation'
  return new AppError(
    'receiver_not_whitelisted',
    `to: one of the relayer's whitelist_receivers is expected, not ${receiver}.`,
  )
}

/** Returns the balance that stays on the account, in the smallest unit. */
export function minBalanceOf({ networkType, policies }: Relayer): bigint {
  return policies.minBalance ?? defaultMinBalance(networkType)
}

/** Returns a problem when the relayer demands EIP-1559 prices on a network without them. */
export function pricingProblem(relayer: RelayerConfig, network: Network | undefined): string | undefined {
  if (network === undefined || !('eip1559Pricing' in relayer.policies) || !('features' in network))
    return undefined
  if (!relayer.policies.eip1559Pricing || network.features.includes('eip1559')) return undefined
  return `relayer "${relayer.id}" has eip1559_pricing, but network "${network.name}" does not have the feature "eip1559"`
}

/**
 * Returns a problem when the relayer keeps its transactions private on a network without private endpoints.
 */
export function privacyProblem(relayer: RelayerConfig, network: Network | undefined): string | undefined {
  if (network === undefined || !sendsPrivately(relayer) || privateUrlsOf(network).length > 0) return undefined
  return `relayer "${relayer.id}" has private_transactions, but network "${network.name}" has no private_rpc_urls; add some first`
}

/**
 * Returns a problem when a limit in the rules of the relayer is for another network than its own: it would
 * limit nothing.
 */
export function limitProblem({ network, networkType: type, policies }: RelayerConfig): string | undefined {
  const own = networkId({ type, name: network })
  const other = networksIn(policies.rules ?? {}).find((id) => id !== own)
  return other === undefined
    ? undefined
    : `a limit is for the network "${other}", and the relayer is on "${own}"`
}

/** Returns true if everything that the relayer signs goes to private endpoints. */
export function sendsPrivately(relayer: RelayerConfig): boolean {
  return 'privateTransactions' in relayer.policies && relayer.policies.privateTransactions === true
}

/**
 * Returns the number of blocks after which a private transaction goes to ordinary endpoints as well;
 * undefined for never.
 */
export function privateFallbackBlocksOf({ policies }: RelayerConfig): number | undefined {
  return 'privateFallbackBlocks' in policies ? policies.privateFallbackBlocks : undefined
}

/**
 * Returns the highest price per unit of gas that the relayer pays, in the smallest unit; undefined for no
 * limit, and where gas has no price.
 */
export function gasPriceCapOf({ policies }: RelayerConfig): bigint | undefined {
  return 'gasPriceCap' in policies ? policies.gasPriceCap : undefined
}

/**
 * Returns true if other programs also send from the account, so that its chain may show nonces and
 * transactions that the records do not explain.
 */
export function sharesAccount({ policies }: Relayer): boolean {
  return policies.sharedAccount === true
}

/** Amounts in the network's smallest unit. */
interface Funds {
  readonly unit: Unit
  /** The spendable balance on the chain. */
  readonly balance: bigint
  /** The most that accepted transactions can take before they are included. */
  readonly reserved: bigint
  /** The most that this request can take. */
  readonly cost: bigint
}

/**
 * Returns the error of an account that cannot pay for this on top of everything in flight; undefined for one
 * that can.
 */
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

/** Returns the policies by which users pay for fees in tokens; empty where the network type has none. */
export function sponsoringPoliciesOf(
  relayer: RelayerConfig,
): SponsoringPolicies & Pick<StellarPolicies, 'slippagePercentage'> {
  // The policies of EVM have none of these names.
  return relayer.policies as SponsoringPolicies & Pick<StellarPolicies, 'slippagePercentage'>
}
