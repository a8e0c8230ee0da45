import type { Actor } from '../../access/actor.ts'
import { networkId } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hasLimits, type Purchase } from '../../spending/book.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { chargeOf } from './charge-of.ts'
import { spendersOf } from './spenders-of.ts'

/** Gives what a transaction takes from the budgets of its spenders; undefined when none of them has a limit. */
export function purchaseOf(
  { chain }: RelayerRuntime,
  { relayer, actor }: { readonly relayer: Relayer; readonly actor: Actor },
  { id, request, from: address, cost }: Pick<Transaction, 'id' | 'request' | 'from' | 'cost'>,
): Purchase | undefined {
  const spenders = spendersOf(relayer, actor).filter(hasLimits)
  if (spenders.length === 0) return undefined
  const network = networkId({ type: relayer.networkType, name: relayer.network })
  return { transactionId: id, spenders, charge: chargeOf({ chain, request, address, network, cost }) }
}
