import type { Frame } from './frame.ts'

/** The envelopes that are refused for some ledgers; stellar-core `TransactionQueue::mBannedTransactions`. */
export interface Bans {
  add(frame: Frame): void
  has(frame: Frame): boolean
  /** A ledger has closed. */
  shift(): void
  clear(): void
}

/** Starts without any; each lasts for `ledgers` ledgers. */
export function createBans(ledgers: number): Bans {
  const none = () => Array.from({ length: ledgers }, () => new Set<string>())
  let byAge = none()
  return {
    add: ({ fullHash }) => void byAge[0]?.add(fullHash),
    has: ({ fullHash }) => byAge.some((hashes) => hashes.has(fullHash)),
    shift() {
      byAge = [new Set(), ...byAge.slice(0, -1)]
    },
    clear() {
      byAge = none()
    },
  }
}
