import type { Address } from '@solana/kit'

/** The content of an address. */
export interface AccountState {
  /** An account without lamports does not exist; only a simulation tells of one. */
  readonly lamports: bigint
  readonly data: Uint8Array
  /** The program that may change it. */
  readonly owner: Address
  readonly executable: boolean
}

/** Returns true if nothing has changed. */
export function isSameAccount(one: AccountState | undefined, other: AccountState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return (
    one.lamports === other.lamports &&
    one.owner === other.owner &&
    one.executable === other.executable &&
    Buffer.compare(one.data, other.data) === 0
  )
}
