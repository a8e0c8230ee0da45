import type { Network } from '../network.ts'
import { issuerOf } from '../state/assets.ts'
import { type AccountEntry, availableBalance, INT64_MAX } from '../state/entries.ts'
import { accountIn, type Changes, knownAccount, trustlineIn } from '../state/state.ts'

/** The reason why a balance could not change. */
export type BalanceProblem = 'noTrust' | 'notAuthorized' | 'underfunded' | 'lineFull'

/** The holder may pay and be paid (`TrustLineFlags`). */
export const AUTHORIZED_FLAG = 1
/** An account may have this many entries (stellar-core `ACCOUNT_SUBENTRY_LIMIT`). */
const SUBENTRY_LIMIT = 1000

/** Takes `amount` of `asset` from an account. Its issuer has any amount (stellar-core `IssuerImpl`). */
export function debit(
  changes: Changes,
  network: Network,
  address: string,
  asset: string,
  amount: bigint,
): BalanceProblem | undefined {
  if (asset === 'native') {
    const account = knownAccount(changes, address)
    if (availableBalance(account, network.baseReserve) < amount) return 'underfunded'
    changes.set({ ...account, balance: account.balance - amount })
    return undefined
  }
  if (issuerOf(asset) === address) return undefined
  const trustLine = trustlineIn(changes, address, asset)
  if (!trustLine) return 'noTrust'
  if (!(trustLine.flags & AUTHORIZED_FLAG)) return 'notAuthorized'
  if (trustLine.balance < amount) return 'underfunded'
  changes.set({ ...trustLine, balance: trustLine.balance - amount })
  return undefined
}

/** Gives `amount` of `asset` to an account, which exists unless it gets its own credit back. */
export function credit(
  changes: Changes,
  address: string,
  asset: string,
  amount: bigint,
): BalanceProblem | undefined {
  if (asset === 'native') {
    const account = knownAccount(changes, address)
    if (account.balance + amount > INT64_MAX) return 'lineFull'
    changes.set({ ...account, balance: account.balance + amount })
    return undefined
  }
  if (issuerOf(asset) === address) return undefined
  const trustLine = trustlineIn(changes, address, asset)
  if (!trustLine) return 'noTrust'
  if (!(trustLine.flags & AUTHORIZED_FLAG)) return 'notAuthorized'
  if (trustLine.balance + amount > trustLine.limit) return 'lineFull'
  changes.set({ ...trustLine, balance: trustLine.balance + amount })
  return undefined
}

/** Counts one entry more, or less, of an account; returns the reason why it cannot have more (`createEntryWithPossibleSponsorship`). */
export function countEntry(
  changes: Changes,
  network: Network,
  address: string,
  by: 1 | -1,
): 'lowReserve' | 'tooMany' | undefined {
  const account = knownAccount(changes, address)
  const next: AccountEntry = { ...account, subEntries: account.subEntries + by }
  if (by === 1 && next.subEntries > SUBENTRY_LIMIT) return 'tooMany'
  if (by === 1 && availableBalance(next, network.baseReserve) < 0n) return 'lowReserve'
  changes.set(next)
  return undefined
}

/** Returns true if the account exists. */
export function exists(changes: Changes, address: string): boolean {
  return accountIn(changes, address) !== undefined
}
