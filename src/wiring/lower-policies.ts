import type { Logger } from 'pino'
import type { Db } from '../database/schema.ts'
import type { PolicyBounds } from '../relayers/policy-bounds.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { lockRelayer, pagesOfRelayers, updateRelayer } from '../relayers/store.ts'

interface LowerDeps {
  readonly db: Db
  readonly bounds: PolicyBounds
  readonly log: Logger
}

/** Lowers policies that were set before the file, or this release, limited them. The ceiling then holds for every stored relayer. */
export async function lowerPolicies(deps: LowerDeps): Promise<void> {
  for await (const page of pagesOfRelayers(deps.db))
    await lowerThose(
      deps,
      page.filter((relayer) => deps.bounds.lower(relayer).lowered.length > 0),
    )
}

async function lowerThose({ db, bounds, log }: LowerDeps, beyond: readonly Relayer[]): Promise<void> {
  for (const { id } of beyond) {
    const lowered = await db.transaction().execute(async (tx) => {
      const present = await lockRelayer(tx, id, 'update')
      if (present === undefined) return []
      const next = bounds.lower(present)
      // Another process may have lowered them since they were read.
      if (next.lowered.length > 0) await updateRelayer(tx, next.relayer)
      return next.lowered
    })
    if (lowered.length > 0)
      log.warn({ relayer: id, policies: lowered }, 'policies lowered to the ceiling of the configuration')
  }
}
