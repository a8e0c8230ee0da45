import type { ReadCall } from './call.ts'

/** `AssociatedTokenAccountInstruction`: the first byte of the data. */
const CREATE = 0
const CREATE_IDEMPOTENT = 1

/** Payer, token account, owner, mint, system program and token program. */
const ACCOUNTS = 6

/**
 * Reads an instruction of the associated token account program. To open an account takes nothing but rent; the program calls no other token
 * program than the two of SPL. No data means `Create`.
 */
export const readAssociatedToken: ReadCall = ({ accounts, data }) => {
  const [kind = CREATE] = data
  const opens = data.length <= 1 && (kind === CREATE || kind === CREATE_IDEMPOTENT)
  return opens && accounts.length >= ACCOUNTS ? {} : undefined
}
