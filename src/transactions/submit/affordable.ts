import type { Prepared } from '../../chains/prepared.ts'
import type { LeasedAccount } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'

/** A pending transaction with the content that could be signed for it. */
export interface Ready {
  readonly transaction: Transaction
  readonly prepared: Prepared
}

/** The transactions that the account can pay for now, and the first one that it cannot, with the reason. */
export interface Affordable {
  readonly ready: readonly Ready[]
  readonly short?: { readonly transaction: Transaction; readonly reason: string } | undefined
}

/**
 * Selects, in the order of acceptance, the transactions that the account can pay for on top of everything in flight, so that no nonce is
 * used for a transaction without money and none overtakes one that waits for money. No-ops that close a nonce always pass, because later
 * nonces wait for them. If no node answers, all pass, and the node decides at the broadcast (I6).
 * @param reserved The maximum that the transactions in flight can still take, read before the balance: a block between the two readings makes
 *   the rest too small, never too large.
 */
export async function affordable(
  { relayer, runtime: { chain } }: LeasedAccount,
  ready: readonly Ready[],
  reserved: bigint,
): Promise<Affordable> {
  const balance = await chain.balance(relayer.address)
  if (balance.kind !== 'ok') return { ready }
  let left = balance.value - reserved
  const paid: Ready[] = []
  for (const item of ready) {
    const cost = chain.cost(item.prepared.draft)
    if (cost > left && item.transaction.nonce === undefined) {
      const reason = `Waiting for funds: up to ${cost} ${chain.unit} are needed, ${left < 0n ? 0n : left} of ${balance.value} are not reserved for transactions in flight.`
      return { ready: paid, short: { transaction: item.transaction, reason } }
    }
    left -= cost
    paid.push(item)
  }
  return { ready: paid }
}
