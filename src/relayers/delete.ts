import { AppError } from '../errors.ts'
import { releaseAccounts } from './account-claims-store.ts'
import type { ManageDeps } from './managed.ts'
import { countUnfinished, lockRelayer, removeRelayer } from './store.ts'

/** Whoever stores a transaction holds the relayer meanwhile, so what is counted under the lock is all there ever will be. */
export function deleteRelayer({ db }: Pick<ManageDeps, 'db'>, id: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    if ((await lockRelayer(tx, id, 'update')) === undefined)
      throw new AppError('relayer_not_found', `There is no relayer ${id}.`)
    const unfinished = await countUnfinished(tx, id)
    if (unfinished > 0) {
      const count = unfinished === 1 ? '1 transaction' : `${unfinished} transactions`
      throw new AppError(
        'relayer_has_transactions',
        `Relayer ${id} has ${count} that ${unfinished === 1 ? 'is' : 'are'} not final. Pause it, cancel them or wait until they are, then delete it.`,
      )
    }
    await removeRelayer(tx, id)
    await releaseAccounts(tx, [id])
  })
}
