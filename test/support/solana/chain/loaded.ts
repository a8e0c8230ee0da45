import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { isWritable, type Message } from '../runtime/transaction.ts'
import { tableAddresses } from './table.ts'

/** Addresses that were taken from tables. */
export interface LoadedAddresses {
  readonly writable: readonly Address[]
  readonly readonly: readonly Address[]
}

/** The addresses that the message takes from tables; none from a table that lacks them, which the runtime refuses. */
export function loadAddresses(
  message: Message,
  account: (address: Address) => AccountState | undefined,
): LoadedAddresses {
  const pick = (kind: 'writable' | 'readonly') =>
    message.lookups.flatMap((lookup) => {
      const addresses = tableAddresses(account(lookup.table))
      return lookup[kind].flatMap((index) => addresses[index] ?? [])
    })
  return { writable: pick('writable'), readonly: pick('readonly') }
}

/** All accounts that the transaction may write. */
export function writableKeys(message: Message, loaded: LoadedAddresses): Address[] {
  return [...message.keys.filter((_, index) => isWritable(message, index)), ...loaded.writable]
}
