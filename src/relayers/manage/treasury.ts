import type { Tx } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { RelayerConfig } from '../relayer.ts'
import { allRelayers } from '../store.ts'
import { topUpProblem } from '../top-up/top-up-problem.ts'

/**
 * Refuses a relayer that another one would fill, where that cannot be. The caller holds the lock of `lockTopUps`.
 * @throws AppError 400
 */
export async function requireTreasury(tx: Tx, relayer: RelayerConfig): Promise<void> {
  if (relayer.policies.topUp === undefined) return
  const others = (await allRelayers(tx)).filter(({ id }) => id !== relayer.id)
  const problem = topUpProblem(relayer, [...others, relayer])
  if (problem !== undefined) throw new AppError('invalid_request', `policies.top_up: ${problem}.`)
}

/**
 * Refuses to delete a relayer that fills others: a new one with its id would pay for them.
 * @throws AppError 400 `in_use`
 */
export async function refuseTreasury(tx: Tx, id: string): Promise<void> {
  const filled = (await allRelayers(tx)).filter(({ policies }) => policies.topUp?.from === id)
  if (filled.length === 0) return
  const names = filled.map((relayer) => relayer.id).join(', ')
  throw new AppError(
    'in_use',
    `Relayer ${id} fills ${names} (policies.top_up). Change that first, then delete it.`,
  )
}
