import type { StellarRequest } from '../content.ts'
import { BASE_RESERVE } from '../read/accounts.ts'
import type { StellarAccount } from '../types.ts'

/**
 * What a new channel account gets, in stroops: the reserve of an account without anything (two entries), which the ledger asks
 * of every new account. It never pays a fee and never moves money, so it needs no more.
 */
const CHANNEL_BALANCE = 2n * BASE_RESERVE

/** An account's sequence number is never lowered: bumping it to 0 does nothing, and costs one operation (CAP-1). */
export function noop(network: string, account: StellarAccount): StellarRequest {
  return ownRequest(network, account, [{ type: 'bump_sequence', bump_to: 0n }])
}

/** `Operation operations<100>` of XDR. More channels are opened by the next request of this kind. */
const MOST_AT_ONCE = 100

/** Opens channel accounts. */
export function openChannels(
  network: string,
  addresses: readonly string[],
  account: StellarAccount,
): StellarRequest {
  return ownRequest(
    network,
    account,
    addresses.slice(0, MOST_AT_ONCE).map((destination) => ({
      type: 'create_account',
      destination,
      starting_balance: CHANNEL_BALANCE,
    })),
  )
}

function ownRequest(
  network: string,
  { policies }: StellarAccount,
  operations: NonNullable<StellarRequest['operations']>,
): StellarRequest {
  const { maxFee } = policies
  return { type: 'stellar', network, operations, ...(maxFee === undefined ? {} : { maxFee }) }
}
