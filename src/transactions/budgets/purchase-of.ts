import type { Actor } from '../../access/actor.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Purchase } from '../../spending/book.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { chargeOf } from './charge-of.ts'
import { limitedSpendersOf } from './spenders-of.ts'

/** Gives what a transaction takes from the budgets of its spenders; undefined when none of them has a limit. */
export function purchaseOf(
  { chain }: RelayerRuntime,
  { relayer, actor }: { readonly relayer: Relayer; readonly actor: Actor },
  { id, request, from: address, cost }: Pick<Transaction, 'id' | 'request' | 'from' | 'cost'>,
): Purchase | undefined {
  const spenders = limitedSpendersOf(relayer, actor)
  if (spenders.length === 0) return undefined
  const effects = chain.effects(request, address)
  return { transactionId: id, spenders, charge: chargeOf(relayer, { effects, cost }) }
}
