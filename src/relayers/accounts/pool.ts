import { id, type Reader, whole } from '../../lib/fields.ts'
import type { AccountSource, Relayer, RelayerConfig } from '../relayer.ts'

// A relayer can have several accounts, which share its work: a node lets one account have only some
// transactions in flight. The first account is that of the relayer itself. Each further one is operated as a
// relayer of its own, with the policies of the first, whose id callers never see.

/** One account of a relayer by its key. */
export interface AccountKey {
  readonly signerId: string
  /** The distance from the first account of the signer. */
  readonly index: number
}

/** The most accounts of a relayer. Each of them is checked, watched and filled like a relayer. */
export const MAX_ACCOUNTS = 100

const SEPARATOR = '/'

/** Returns the id that callers know: the id itself, and for a further account that of its relayer. */
export function poolIdOf(relayerId: string): string {
  return relayerId.split(SEPARATOR, 1)[0] ?? relayerId
}

/** Returns true for a further account of a relayer. */
export function isFurtherAccount({ id: relayerId }: { readonly id: string }): boolean {
  return relayerId.includes(SEPARATOR)
}

/** Names a relayer, or one of its further accounts, at the beginning of a sentence for callers. */
export function nameOfAccount({ id: relayerId, address }: Pick<Relayer, 'id' | 'address'>): string {
  const id = poolIdOf(relayerId)
  return id === relayerId ? `Relayer ${id}` : `Account ${address} of relayer ${id}`
}

/**
 * Returns the id under which the service operates a further account. No other relayer can have it, because
 * ids have no slash.
 */
export function furtherAccountId(poolId: string, address: string): string {
  return `${poolId}${SEPARATOR}${address}`
}

/** Reads the field `accounts` of a relayer document. Undefined if it is absent. */
export function readAccounts(reader: Reader, signerId: string): readonly AccountSource[] | undefined {
  const entries = reader.objects('accounts')
  if (entries === undefined) return undefined
  const accounts = entries.map((entry): AccountSource => {
    const source = {
      signerId: entry.get('signer_id', id),
      count: entry.find('count', whole(1, MAX_ACCOUNTS)) ?? 1,
    }
    entry.finish()
    return source
  })
  const [first] = accounts
  if (first === undefined || first.signerId !== signerId)
    reader.problem(
      `must begin with the account of the relayer itself: { "signer_id": "${signerId}" }`,
      'accounts',
    )
  if (new Set(accounts.map((account) => account.signerId)).size < accounts.length)
    reader.problem(
      'must name each signer once; use "count" for several accounts of a seed phrase',
      'accounts',
    )
  if (accounts.reduce((sum, { count }) => sum + count, 0) > MAX_ACCOUNTS)
    reader.problem(`must be at most ${MAX_ACCOUNTS} accounts`, 'accounts')
  return accounts
}

/** Writes the accounts as `readAccounts` reads them. */
export function writeAccounts(accounts: readonly AccountSource[]): object[] {
  return accounts.map(({ signerId, count }) => ({ signer_id: signerId, count }))
}

/** Lists the keys of the further accounts of a relayer. Pure. */
export function furtherKeys({ accounts = [] }: Pick<RelayerConfig, 'accounts'>): AccountKey[] {
  const all = accounts.flatMap(({ signerId, count }) =>
    Array.from({ length: count }, (_, index): AccountKey => ({ signerId, index })),
  )
  return all.slice(1)
}

/**
 * Returns the configuration of a further account without its id, which its address decides. It has no
 * channels: those of the relayer would have the same sequence numbers assigned twice.
 */
export function furtherConfig<T extends RelayerConfig>(relayer: T, { signerId, index }: AccountKey): T {
  const { accounts: _, ...shared } = relayer
  return {
    ...shared,
    ...('channels' in shared && { channels: 0 }),
    signerId,
    ...(index > 0 && { accountIndex: index }),
  } as T
}
