import type { Transaction } from '../../support/service.ts'

/** The fate of a hash on the real chain. */
export type Fate = 'succeeded' | 'reverted' | 'absent'

/** Attempts that execute what the caller asked for. The service also speeds up and signs again what cancels, and has transactions of its own. */
const EXECUTING: readonly string[] = ['send', 'replace']
const PERHAPS_EXECUTING: readonly string[] = [...EXECUTING, 'speed_up', 're_sign', 'gap_filler', 'setup']

/** Says how a final record contradicts the chain; undefined when it does not. */
export async function contradiction(
  record: Transaction,
  fateOf: (hash: string) => Promise<Fate>,
): Promise<string | undefined> {
  const fates = await Promise.all(
    record.attempts.map(async ({ kind, hash }) => ({ kind, hash, fate: await fateOf(String(hash)) })),
  )
  const kinds = record.status === 'confirmed' ? PERHAPS_EXECUTING : EXECUTING
  const executed = fates.filter(({ kind, fate }) => kinds.includes(kind) && fate === 'succeeded')
  const at = `${record.network_type} ${record.id} is ${record.status} (${record.status_reason ?? ''})`
  if (record.status === 'confirmed')
    return executed.length === 1 ? undefined : `${at}, and ${executed.length} attempts succeeded`
  if (['failed', 'canceled', 'expired'].includes(record.status))
    return executed.length === 0 ? undefined : `${at}, and ${executed[0]?.hash} succeeded`
  return undefined
}
