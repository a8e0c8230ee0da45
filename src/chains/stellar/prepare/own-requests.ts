import type { Funding, Payment } from '../../capabilities.ts'
import type { StellarPolicies, StellarRequest } from '../content.ts'
import type { StellarOperation } from '../model/operation.ts'
import type { FundsReader } from '../read/accounts.ts'
import type { StellarAccount } from '../types.ts'

/**
 * Returns the request that does nothing. A sequence number is never lowered, so bumping it to 0 has no effect
 * and costs one operation (CAP-1).
 */
export function noop(network: string, account: StellarAccount): StellarRequest {
  return { ...ownRequest(network, account, [{ type: 'bump_sequence', bump_to: 0n }]), isNoop: true }
}

/** `Operation operations<100>` of XDR. The next request of this kind opens the remaining channels. */
const MOST_AT_ONCE = 100

interface NewChannels {
  readonly addresses: readonly string[]
  /** That of the ledger, in stroops. */
  readonly baseReserve: bigint
}

/**
 * Returns the request that opens channel accounts. Each gets the reserve of an empty account, two entries,
 * which the ledger requires of every new account. A channel never pays a fee and never moves money, so it
 * needs no more.
 */
export function openChannels(
  network: string,
  { addresses, baseReserve }: NewChannels,
  account: StellarAccount,
): StellarRequest {
  return ownRequest(
    network,
    account,
    addresses.slice(0, MOST_AT_ONCE).map((destination) => ({
      type: 'create_account',
      destination,
      starting_balance: 2n * baseReserve,
    })),
  )
}

/** Returns the request that pays lumens, and creates the receiver where the ledger does not have it. */
function pay(
  network: string,
  { to: destination, amount, funds }: Payment,
  account: StellarAccount,
): StellarRequest {
  const operation: StellarOperation = funds.exists
    ? { type: 'payment', destination, asset: { type: 'native' }, amount }
    : { type: 'create_account', destination, starting_balance: amount }
  return ownRequest(network, account, [operation])
}

function ownRequest(
  network: string,
  { policies }: StellarAccount,
  operations: NonNullable<StellarRequest['operations']>,
): StellarRequest {
  const { maxFee } = policies
  return { type: 'stellar', network, operations, ...(maxFee === undefined ? {} : { maxFee }) }
}

/** Creates the payments of a Stellar network. The first payment creates the account. */
export function createFunding(
  { readFunds }: FundsReader,
  network: string,
): Funding<StellarRequest, StellarPolicies> {
  return {
    read: (address, { asOf } = {}) => readFunds(address, asOf),
    pay: (payment, account) => pay(network, payment, account),
  }
}
