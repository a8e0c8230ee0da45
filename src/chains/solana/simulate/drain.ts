import type { Refusal } from '../../answer.ts'
import type { AccountState } from '../read/account-state.ts'
import { encodeBase58 } from '../wire/base58.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../wire/programs.ts'

/**
 * The layout of a token account (`spl_token::state::Account`, which Token-2022 keeps and extends): mint, owner, amount, delegate, state,
 * native, delegated amount, close authority.
 */
const OWNER = { from: 32, to: 64 } as const
const AMOUNT_AT = 64
const BASE_BYTES = 165
/** Token-2022 stores the kind of account after the base (`AccountType`). */
const TOKEN_ACCOUNT_TYPE = 2

/** The fields that decide who may move the tokens: mint and owner; delegate, state and native; delegated amount and close authority. */
const RIGHTS = [
  [0, 64],
  [72, 121],
  [121, BASE_BYTES],
] as const

/** Returns true when an account holds tokens of this owner. */
export function holdsTokensOf(account: AccountState | undefined, owner: string): boolean {
  if (account === undefined || !isTokenProgram(account.owner)) return false
  const { data } = account
  if (data.length < BASE_BYTES) return false
  if (data.length > BASE_BYTES && data[BASE_BYTES] !== TOKEN_ACCOUNT_TYPE) return false
  return encodeBase58(data.subarray(OWNER.from, OWNER.to)) === owner
}

function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
}

/** One account before and after a simulation. */
export interface Change {
  readonly address: string
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
}

/** Returns the lamports that left the account; 0 when it received some. */
export function lamportsTaken({ before, after }: Change): bigint {
  const taken = (before?.lamports ?? 0n) - (after?.lamports ?? 0n)
  return taken > 0n ? taken : 0n
}

/** Explains why the tokens of the relayer are not safe; undefined when they are. */
export function tokensTaken({ address, before, after }: Change): string | undefined {
  if (before === undefined) return undefined
  if (after === undefined || after.owner !== before.owner || after.data.length < BASE_BYTES)
    return `the relayer's token account ${address} would be closed`
  if (amountIn(after) < amountIn(before))
    return `the relayer's token account ${address} would lose ${amountIn(before) - amountIn(after)} of its tokens`
  const changed = RIGHTS.some(([from, to]) => !part(after, from, to).equals(part(before, from, to)))
  return changed ? `somebody else would get rights in the relayer's token account ${address}` : undefined
}

/** Refuses a transaction that takes from an account that only pays. */
export function drained(at: string, what: string): Refusal {
  return {
    code: 'fee_payer_at_risk',
    detail: `${at}: in the simulation ${what}; the relayer only pays the fee.`,
  }
}

function amountIn({ data }: AccountState): bigint {
  return Buffer.from(data).readBigUInt64LE(AMOUNT_AT)
}

function part({ data }: AccountState, from: number, to: number): Buffer {
  return Buffer.from(data.subarray(from, to))
}
