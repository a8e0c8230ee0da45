import type { StellarAsset } from '../model/operation.ts'
import { isAccountAddress, isAccountId, isContractAddress } from '../model/strkey.ts'

/** A sentence that begins with the field and states the expected value; undefined if nothing is wrong. */
export type Problem = string | undefined

/** The largest integer of XDR's `int64`. */
const MAX_INT64 = 2n ** 63n - 1n

/** Returns the first problem among the items of a list. Paths count the items from 0. */
export function firstOf<T>(
  items: readonly T[],
  at: string,
  check: (item: T, at: string) => Problem,
): Problem {
  for (const [index, item] of items.entries()) {
    const problem = check(item, `${at}[${index}]`)
    if (problem !== undefined) return problem
  }
  return undefined
}

/**
 * Checks a `G…` or `M…` address. The contract checks the letters; only the checksum reveals a typing error
 * (SEP-23).
 */
export function accountAddress(text: string, at: string): Problem {
  return isAccountAddress(text)
    ? undefined
    : `${at}: the address of a Stellar account is expected; its checksum is wrong.`
}

/** Checks a `G…` address, where the ledger accepts no muxed account. */
export function accountId(text: string, at: string): Problem {
  if (isAccountId(text)) return undefined
  return isAccountAddress(text)
    ? `${at}: an account without a muxed id is expected (G…); the ledger accepts no muxed account here.`
    : accountAddress(text, at)
}

export function contractAddress(text: string, at: string): Problem {
  return isContractAddress(text)
    ? undefined
    : `${at}: the address of a smart contract is expected (C…); its checksum is wrong.`
}

export function positive(amount: bigint, at: string): Problem {
  return amount > 0n && amount <= MAX_INT64
    ? undefined
    : `${at}: an amount from 1 to ${MAX_INT64} is expected.`
}

export function notNegative(amount: bigint, at: string): Problem {
  return amount >= 0n && amount <= MAX_INT64
    ? undefined
    : `${at}: a number from 0 to ${MAX_INT64} is expected.`
}

/**
 * Checks an asset (stellar-core `isAssetValid`): letters and digits, and a code of up to 4 is never written
 * in 12.
 */
export function asset(value: StellarAsset, at: string): Problem {
  if (value.type === 'native') return undefined
  const long = value.type === 'credit12' || value.type === 'credit_alphanum12'
  const pattern = long ? /^[A-Za-z0-9]{5,12}$/ : /^[A-Za-z0-9]{1,4}$/
  if (!pattern.test(value.code))
    return `${at}.code: ${long ? '5 to 12' : '1 to 4'} letters or digits are expected.`
  return accountId(value.issuer, `${at}.issuer`)
}

/** Checks a text (stellar-core `isStringValid`): ASCII without control characters. */
export function plainText(text: string, at: string, most: number): Problem {
  if (!/^[\x20-\x7e]*$/.test(text)) return `${at}: ASCII without control characters is expected.`
  return text.length <= most
    ? undefined
    : `${at}: at most ${most} characters are expected, ${text.length} were given.`
}
