import { type CompiledInstruction, lookupsOf, type Message } from './message.ts'

/** An account of a transaction, and the rights of its instructions on it. */
export interface TransactionAccount {
  readonly address: string
  readonly signer: boolean
  readonly writable: boolean
}

/** The addresses that a message loads from address tables, in the order of the message's lookups. */
export type LoadedAddresses = readonly {
  readonly writable: readonly string[]
  readonly readonly: readonly string[]
}[]

/**
 * Returns every account of a message by index: its static accounts, then the writable and then the read-only ones from tables. Without
 * `loaded` it returns only the static accounts.
 */
export function accountsOf(message: Message, loaded: LoadedAddresses = []): TransactionAccount[] {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const firstReadonly = message.staticAccounts.length - numReadonlyNonSignerAccounts
  const standing = message.staticAccounts.map((address, index) => {
    const signer = index < numSignerAccounts
    const writable = signer ? index < numSignerAccounts - numReadonlySignerAccounts : index < firstReadonly
    return { address, signer, writable }
  })
  const fromTables = (addresses: readonly string[], writable: boolean) =>
    addresses.map((address) => ({ address, signer: false, writable }))
  return [
    ...standing,
    ...fromTables(
      loaded.flatMap(({ writable }) => writable),
      true,
    ),
    ...fromTables(
      loaded.flatMap((lookup) => lookup.readonly),
      false,
    ),
  ]
}

/** Returns the accounts that an instruction receives. Where `accounts` are not complete, unknown ones are left out. */
export function instructionAccounts(
  accounts: readonly TransactionAccount[],
  { accountIndices = [] }: CompiledInstruction,
): TransactionAccount[] {
  return accountIndices.flatMap((index) => accounts[index] ?? [])
}

/** Returns the addresses of the tables that have to be read before all accounts are known. */
export function tablesOf(message: Message): string[] {
  return lookupsOf(message).map(({ lookupTableAddress }) => lookupTableAddress)
}
