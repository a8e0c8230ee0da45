import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../database/schema.ts'
import { ConfigError } from '../../lib/config-errors.ts'
import { AccountInUseError, releaseAccounts, reserveAccounts } from '../../relayers/account-claims-store.ts'
import type { RelayerAccounts } from '../../relayers/accounts.ts'
import { channelsOf } from '../../relayers/channels.ts'
import type { Relayer, RelayerConfig } from '../../relayers/relayer.ts'
import type { ConfiguredRelayer } from '../../relayers/relayer-codec.ts'
import {
  allRelayers,
  countUnfinished,
  forgetNonce,
  removeRelayer,
  type StoredRelayer,
  saveRelayer,
} from '../../relayers/store.ts'
import { topUpProblems } from '../../relayers/top-up/top-up-problem.ts'
import { type ConfigChange, fieldChanges } from './changes.ts'
import { type Comparison, compareEntries } from './compare.ts'
import { readEntries, writeEntries } from './entries-store.ts'

interface Wanted {
  readonly relayers: readonly RelayerConfig[]
  /** The accounts of each relayer, by id. */
  readonly accounts: ReadonlyMap<string, RelayerAccounts>
  readonly stored: ReadonlyMap<string, StoredRelayer>
}

/**
 * Saves the relayers whose entries changed, and removes those that the file no longer has.
 * @throws ConfigError when that would strand transactions, or give two relayers the same account
 */
export async function applyRelayers(tx: Tx, { relayers, accounts, stored }: Wanted): Promise<ConfigChange[]> {
  const wanted = relayers.map((relayer) => ({
    ...relayer,
    address: requireAccounts(accounts, relayer.id).addresses[0],
  }))
  const comparison = compareEntries(wanted, await readEntries(tx, 'relayer'))
  const { changed, unchanged, entries } = comparison
  const gone = comparison.gone.filter((id) => stored.get(id)?.removed === false)
  await refuseStranding(tx, { ...comparison, gone }, stored)

  const kept = unchanged.filter((next) => isStillIt(next, stored.get(next.id)))
  const claiming = [...changed, ...kept]
  await releaseAccounts(tx, gone)
  const changes: ConfigChange[] = []
  for (const relayer of changed) changes.push(...(await applyRelayer(tx, relayer, stored.get(relayer.id))))
  for (const id of gone) {
    await removeRelayer(tx, id)
    changes.push({ kind: 'removed', what: 'relayer', id, fields: [] })
  }
  await reserveAll(tx, claiming, accounts)
  await writeEntries(tx, 'relayer', entries)
  // Callers may have changed or created relayers that the file does not know, so all of them are checked.
  const problems = topUpProblems(await allRelayers(tx))
  if (problems.length > 0) throw new ConfigError(problems)
  return changes
}

/** Returns false when a caller has deleted the file's relayer, or has created another one with its id. */
function isStillIt(next: ConfiguredRelayer, before: StoredRelayer | undefined): boolean {
  if (before === undefined || before.removed || isMoved(before.relayer, next)) return false
  return isDeepStrictEqual(channelsOf(before.relayer), channelsOf(next))
}

async function reserveAll(
  tx: Tx,
  relayers: readonly ConfiguredRelayer[],
  accounts: ReadonlyMap<string, RelayerAccounts>,
): Promise<void> {
  const claims = relayers.map(({ id }) => ({ relayerId: id, ...requireAccounts(accounts, id) }))
  try {
    await reserveAccounts(tx, claims)
  } catch (error) {
    if (error instanceof AccountInUseError)
      throw new ConfigError([`relayer "${error.relayerId}": ${error.message}`])
    throw error
  }
}

async function refuseStranding(
  tx: Tx,
  { changed, gone }: Pick<Comparison<ConfiguredRelayer>, 'changed' | 'gone'>,
  stored: ReadonlyMap<string, StoredRelayer>,
): Promise<void> {
  const problems: string[] = []
  for (const id of gone) {
    const unfinished = await countUnfinished(tx, id)
    if (unfinished > 0) problems.push(`relayer "${id}" cannot be removed: ${remedy(unfinished)}`)
  }
  for (const next of changed) {
    const before = stored.get(next.id)?.relayer
    if (!before || !isMoved(before, next)) continue
    const unfinished = await countUnfinished(tx, next.id)
    if (unfinished === 0) continue
    const way = `from ${before.address} on "${before.network}" to ${next.address} on "${next.network}"`
    problems.push(`relayer "${next.id}" cannot move ${way}: ${remedy(unfinished)}`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

function remedy(unfinished: number): string {
  const count = unfinished === 1 ? '1 transaction is' : `${unfinished} transactions are`
  return `${count} unfinished; put it back as it was with "paused": true, wait until they are final or cancel them, then try again`
}

async function applyRelayer(
  tx: Tx,
  next: ConfiguredRelayer,
  before: StoredRelayer | undefined,
): Promise<ConfigChange[]> {
  await saveRelayer(tx, next)
  if (!before) return [{ kind: 'created', what: 'relayer', id: next.id, fields: [] }]
  const { systemDisabled, disabledReason, ...decided } = before.relayer
  const fields = fieldChanges(decided, next)
  if (isMoved(before.relayer, next)) await forgetNonce(tx, next.id)
  if (fields.length === 0 && !before.removed) return []
  return [{ kind: before.removed ? 'restored' : 'updated', what: 'relayer', id: next.id, fields }]
}

function isMoved(before: Relayer, next: ConfiguredRelayer): boolean {
  return before.address !== next.address || before.network !== next.network
}

function requireAccounts(accounts: ReadonlyMap<string, RelayerAccounts>, id: string): RelayerAccounts {
  const found = accounts.get(id)
  if (found === undefined) throw new Error(`The accounts of relayer "${id}" are missing.`)
  return found
}
