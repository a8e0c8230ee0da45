import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { decimalsOf, readTokenAccount, type TokenAccount } from '../runtime/token.ts'

/** The tokens of a token account among the accounts of a transaction. */
export interface TokenBalance extends TokenAccount {
  /** Its place among the accounts. */
  readonly accountIndex: number
  readonly decimals: number
}

/** The token accounts among `keys`, as `account` gives them. */
export function tokenBalances(
  keys: readonly Address[],
  account: (address: Address) => AccountState | undefined,
): TokenBalance[] {
  return keys.flatMap((key, accountIndex) => {
    const token = readTokenAccount(account(key))
    return token ? [{ ...token, accountIndex, decimals: decimalsOf(account(token.mint)) }] : []
  })
}
