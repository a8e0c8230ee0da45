import type { Instruction, Lookup } from '../../shared/solana-transaction.ts'
import { Refusal } from '../refusal.ts'

export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** Wallets add its instructions to protect their users. */
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** The transaction of a payment, decoded; the payer has signed it. */
export interface SolanaMessage {
  /** As it came, in base64; the fee payer's signature is missing in it. */
  readonly transaction: string
  /** All that is signed. */
  readonly message: Uint8Array
  readonly feePayer: string
  /** The one that signs beside the fee payer. */
  readonly payer: string
  readonly mint: string
  readonly amount: bigint
  /**
   * SHA-256 of the message: all that is signed. A payer can make any number of signatures of it, so they name
   * nothing.
   */
  readonly messageHash: string
  /** The accounts that are in the message itself. */
  readonly accounts: readonly string[]
  readonly lookups: readonly Lookup[]
  readonly instructions: readonly Instruction[]
}

/** The bounds of the operator on what a payment may cost. */
export interface SolanaBounds {
  readonly maxUnits: number
  /** Micro-lamports per compute unit. */
  readonly maxUnitPrice: bigint
}

/** Makes a refusal with one of the reasons that the scheme has on Solana. */
export function refusal(reason: string, message: string, payer?: string): Refusal {
  return new Refusal(`invalid_exact_svm_${reason}`, message, payer)
}

/** The number in an instruction of the compute budget, if it has this type and length. */
export function budgetValue(data: Uint8Array, type: number, length: number): bigint | undefined {
  if (data.length !== length || data[0] !== type) return undefined
  const view = new DataView(data.buffer, data.byteOffset)
  return length === 5 ? BigInt(view.getUint32(1, true)) : view.getBigUint64(1, true)
}

/** @throws Refusal if the memo that the resource server demands is missing or another one */
export function checkMemo(
  instructions: readonly Instruction[],
  { memo, payer }: { readonly memo: unknown; readonly payer: string },
): void {
  if (memo === undefined) return
  const memos = instructions.filter(({ program }) => program === MEMO_PROGRAM)
  if (memos.length !== 1) throw refusal('payload_memo_count', 'Exactly one memo is expected.', payer)
  if (Buffer.from(memos[0]?.data ?? []).equals(Buffer.from(String(memo)))) return
  throw refusal('payload_memo_mismatch', 'The memo is not what is required.', payer)
}

/**
 * Checks that the fee payer's signature can be used for the fee alone: an account that no instruction names
 * is out of reach of every program. `accounts` are those of the message and of its tables.
 * @throws Refusal if an instruction names the fee payer, or an account that no table has
 */
export function checkFeePayer(
  { feePayer, payer, instructions }: SolanaMessage,
  accounts: readonly (string | undefined)[],
  reason: string,
): void {
  if (accounts.includes(undefined))
    throw refusal(
      'smart_wallet_alt_resolution_failed',
      'An account of a look-up table cannot be resolved.',
      payer,
    )
  for (const { program, accounts: indexes } of instructions) {
    if (
      program !== feePayer &&
      indexes.every((index) => accounts[index] !== undefined && accounts[index] !== feePayer)
    )
      continue
    throw refusal(reason, 'The fee payer may appear in no instruction.', payer)
  }
}
