import {
  type AccountEntry,
  accountKey,
  type Entry,
  keyOf,
  type TrustlineEntry,
  trustlineKey,
} from './entries.ts'

/** A readable state: entries by their key. */
export interface View {
  get(key: string): Entry | undefined
}

/** One entry before and after; an absent side means that it did not exist. */
export interface Change {
  readonly key: string
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** Changes on top of a view, which does not see them before they are committed (stellar-core `LedgerTxn`). */
export interface Changes extends View {
  set(entry: Entry): void
  remove(key: string): void
  /** Each touched entry once, in the order of the first touch. */
  list(): readonly Change[]
  /** Hands everything to `target`. */
  commitTo(target: Changes): void
}

/** All entries, in every ledger there was. */
export interface History {
  /** The entries as they were when `ledger` had closed. */
  at(ledger: number): View
  /** Every entry that existed when `ledger` had closed. */
  all(ledger: number): Entry[]
  /** Writes `changes` to the state with `ledger`. */
  write(ledger: number, changes: Changes): void
}

/** Starts an empty set of changes on top of `parent`. */
export function createChanges(parent: View): Changes {
  const touched = new Map<string, Entry | undefined>()
  const get = (key: string) => (touched.has(key) ? touched.get(key) : parent.get(key))
  return {
    get,
    set: (entry) => void touched.set(keyOf(entry), entry),
    remove: (key) => void touched.set(key, undefined),
    list: () => [...touched].map(([key, after]) => ({ key, before: parent.get(key), after })),
    commitTo(target) {
      for (const [key, entry] of touched) {
        if (entry) target.set(entry)
        else target.remove(key)
      }
    },
  }
}

/** Starts an empty history. */
export function createHistory(): History {
  const versions = new Map<string, { ledger: number; entry: Entry | undefined }[]>()
  const entryAt = (key: string, ledger: number) =>
    versions.get(key)?.findLast((version) => version.ledger <= ledger)?.entry
  return {
    at: (ledger) => ({ get: (key) => entryAt(key, ledger) }),
    all: (ledger) =>
      [...versions.keys()].map((key) => entryAt(key, ledger)).filter((entry) => entry !== undefined),
    write(ledger, changes) {
      for (const { key, after } of changes.list()) {
        const known = versions.get(key) ?? []
        known.push({ ledger, entry: after && { ...after, lastModified: ledger } })
        versions.set(key, known)
      }
    },
  }
}

/** The account, when there is one. */
export function accountIn(view: View, address: string): AccountEntry | undefined {
  const entry = view.get(accountKey(address))
  return entry?.kind === 'account' ? entry : undefined
}

/** The account, which the rules have made sure of before. */
export function knownAccount(view: View, address: string): AccountEntry {
  const account = accountIn(view, address)
  if (!account) throw new Error(`There is no account ${address}.`)
  return account
}

/** Returns the account's balance of `asset` (`CODE:ISSUER`), when it trusts it. */
export function trustlineIn(view: View, account: string, asset: string): TrustlineEntry | undefined {
  const entry = view.get(trustlineKey(account, asset))
  return entry?.kind === 'trustline' ? entry : undefined
}
