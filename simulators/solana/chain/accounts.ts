import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'

/** Accounts as they were after each slot, as far as they ever changed. */
export interface AccountHistory {
  /** The account after this slot; `unchanged` when it never changed. */
  at(address: Address, slot: bigint): AccountState | undefined | 'unchanged'
  /** Records the state of the account from this slot on, and the one before it. */
  record(address: Address, slot: bigint, change: Change): void
  /** Forgets what came after this slot; gives the accounts that this has changed. */
  rewind(slot: bigint): Address[]
  /** The accounts that changed after this slot. */
  changedAfter(slot: bigint): Address[]
  /** Everything that ever changed. */
  addresses(): Iterable<Address>
  /** Makes the account what it is, in every slot there ever was. */
  plant(address: Address, account: AccountState): void
  /** Adds lamports to the account in every slot there ever was; makes it where it was not. `now` is what it is. */
  give(address: Address, lamports: bigint, now: AccountState | undefined): void
}

/** A change of an account. */
export interface Change {
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
}

/** Below every slot. */
const BEFORE_ALL = -1n

interface Version {
  readonly slot: bigint
  readonly account: AccountState | undefined
}

/** A history of which nothing has happened yet. */
export function createAccountHistory(): AccountHistory {
  const versions = new Map<Address, Version[]>()
  const changedAfter = (slot: bigint) =>
    [...versions].filter(([, list]) => (list.at(-1)?.slot ?? 0n) > slot).map(([address]) => address)
  const of = (address: Address, before: AccountState | undefined) =>
    versions.get(address) ?? [{ slot: BEFORE_ALL, account: before }]
  return {
    at(address, slot) {
      const list = versions.get(address)
      if (list === undefined) return 'unchanged'
      return list.findLast((version) => version.slot <= slot)?.account
    },
    record(address, slot, { before, after }) {
      const list = of(address, before)
      if (list.at(-1)?.slot === slot) list.pop()
      list.push({ slot, account: after })
      versions.set(address, list)
    },
    rewind(slot) {
      const changed = changedAfter(slot)
      for (const address of changed) {
        const kept = of(address, undefined).filter((version) => version.slot <= slot)
        versions.set(address, kept)
      }
      return changed
    },
    changedAfter,
    addresses: () => versions.keys(),
    plant(address, account) {
      versions.set(address, [{ slot: BEFORE_ALL, account }])
    },
    give(address, lamports, now) {
      const richer = of(address, now).map(({ slot, account }) => ({
        slot,
        account: withMore(account, lamports),
      }))
      versions.set(address, richer)
    },
  }
}

function withMore(account: AccountState | undefined, lamports: bigint): AccountState {
  if (account === undefined)
    return { lamports, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false }
  return { ...account, lamports: account.lamports + lamports }
}
