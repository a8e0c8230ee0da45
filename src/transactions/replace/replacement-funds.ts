import { shortOfFunds } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { reservedBy } from '../store/work-store.ts'

/**
 * The replaced attempt's own reservation is not counted: only one of them can ever be included.
 * @throws AppError 400 when the account cannot pay; nodes that do not answer stop nobody
 */
export async function checkReplacementFunds(
  context: TransactionsContext,
  { relayer, id, cost }: { relayer: Relayer; id: string; cost: bigint },
): Promise<void> {
  const reserved = await reservedBy(context.db, relayer.id, id)
  const { chain } = context.runtimeOf(relayer)
  const balance = await chain.balance(relayer.address)
  const { unit } = chain
  const short =
    balance.kind === 'ok'
      ? shortOfFunds(relayer, { unit, balance: balance.value, reserved, cost })
      : undefined
  if (short) throw short
}
