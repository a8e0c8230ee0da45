import { type Address, getAddressDecoder } from '@solana/kit'
import type { AccountState } from './account.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts'

/** Bytes of a mint and of a token account without extensions (spl-token `Mint::LEN`, `Account::LEN`). */
const MINT_LENGTH = 82
const TOKEN_ACCOUNT_LENGTH = 165
/** Token-2022 writes the kind of an account behind the length of a token account; 2 is a token account. */
const KIND_OFFSET = 165
const KIND_TOKEN_ACCOUNT = 2
const OWNER_OFFSET = 32
const AMOUNT_OFFSET = 64
const DECIMALS_OFFSET = 44

/** A token account. */
export interface TokenAccount {
  readonly mint: Address
  /** The account that may move it. */
  readonly owner: Address
  /** In the smallest unit. */
  readonly amount: bigint
  /** The token program that it belongs to. */
  readonly program: Address
}

/** Reads a token account of either token program. */
export function readTokenAccount(account: AccountState | undefined): TokenAccount | undefined {
  if (account?.owner !== TOKEN_PROGRAM && account?.owner !== TOKEN_2022_PROGRAM) return undefined
  const { data, owner } = account
  const isOne =
    data.length === TOKEN_ACCOUNT_LENGTH ||
    (data.length > KIND_OFFSET && data[KIND_OFFSET] === KIND_TOKEN_ACCOUNT && owner === TOKEN_2022_PROGRAM)
  if (!isOne) return undefined
  return {
    mint: getAddressDecoder().decode(data.subarray(0, OWNER_OFFSET)),
    owner: getAddressDecoder().decode(data.subarray(OWNER_OFFSET, AMOUNT_OFFSET)),
    amount: Buffer.from(data).readBigUInt64LE(AMOUNT_OFFSET),
    program: owner,
  }
}

/** Returns the number of decimals in amounts of this mint. */
function decimalsOf(mint: AccountState | undefined): number {
  return mint && mint.data.length >= MINT_LENGTH ? (mint.data[DECIMALS_OFFSET] ?? 0) : 0
}

/** An amount for people, without zeros at its end. */
export function writeUnits(amount: bigint, decimals: number): string {
  if (decimals === 0) return String(amount)
  const digits = String(amount).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`)
}

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
