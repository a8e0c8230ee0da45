import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'

/** Returns true when the chain was reset. The relayer is disabled then, so that callers learn the reason. */
export async function isReset(
  context: TransactionsContext,
  { relayer, runtime }: LeasedAccount,
): Promise<boolean> {
  if ((await context.findChainReset(runtime)) === undefined) return false
  if (!relayer.systemDisabled) await context.checkHealth(relayer)
  return true
}
