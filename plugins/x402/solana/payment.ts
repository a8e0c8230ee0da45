import { createHash } from 'node:crypto'
import { type Address, isAddress } from '@solana/kit'
import {
  associatedAddress,
  COMPUTE_BUDGET_PROGRAM,
  decodeTransaction,
  type Instruction,
  isSignatureOf,
  type Lookup,
  TOKEN_PROGRAMS,
} from '../../shared/solana-transaction.ts'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest } from '../wire.ts'

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** Wallets add its instructions to protect their users. */
const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** A payment in SPL tokens, decoded and checked as far as that is possible without the chain. */
export interface SolanaPayment {
  /** As it came, in base64; the fee payer's signature is missing in it. */
  readonly transaction: string
  /** All that is signed. */
  readonly message: Uint8Array
  readonly feePayer: string
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
  /** The one transfer; its accounts may be in tables. */
  readonly transfer: Instruction
  /**
   * True if it has instructions of Lighthouse, which fail it by anything that the chain says at that moment.
   */
  readonly hasAssertions: boolean
  /** Where the tokens must go: the payee's associated account under the program of the transfer. */
  readonly destination: string
}

/** The bounds of the operator on what a payment may cost. */
export interface SolanaBounds {
  readonly maxUnits: number
  /** Micro-lamports per compute unit. */
  readonly maxUnitPrice: bigint
}

/**
 * Decodes a payment, and compares it with what is required. `feePayer` is the relayer's account. Throws
 * {@link Refusal}.
 */
export async function decodeSolanaPayment(
  { payload, requirements }: PaymentRequest,
  feePayer: string,
  bounds: SolanaBounds,
): Promise<SolanaPayment> {
  const { amount, asset, payTo, extra } = requirements
  for (const [field, value] of Object.entries({ asset, payTo })) {
    if (isAddress(value)) continue
    throw new Refusal(
      'invalid_payment_requirements',
      `paymentRequirements.${field}: expected an address in base58.`,
    )
  }
  if (typeof extra.feePayer !== 'string')
    throw refusal(
      'payload_missing_fee_payer',
      'paymentRequirements.extra.feePayer: expected the address of the fee payer.',
    )
  if (extra.feePayer !== feePayer)
    throw refusal(
      'fee_payer_not_managed_by_facilitator',
      `paymentRequirements.extra.feePayer: expected ${feePayer}.`,
    )
  const { transaction } = payload
  const decoded = decodeTransaction(transaction)
  if (decoded === undefined)
    throw refusal(
      'payload_transaction_could_not_be_decoded',
      'payload.transaction: expected a transaction in base64.',
    )
  const { message, bytes, signatures, accounts, instructions, lookups } = decoded
  if (accounts[0] !== feePayer) throw refusal('fee_payer_mismatch', `The fee payer must be ${feePayer}.`)
  if (message.header.numSignerAccounts !== 2)
    throw refusal('payload_excessive_signers', 'Exactly the fee payer and the payer must sign.')
  const payer = accounts[1] ?? ''
  if (!(await isSignatureOf(payer, signatures[payer as Address], bytes)))
    throw refusal('payload_signature_invalid', 'The signature of the payer is missing or wrong.', payer)
  const transfer = checkInstructions(instructions, { payer, amount, memo: extra.memo, ...bounds })
  const destination = await associatedAddress(payTo, asset, transfer.program)
  const messageHash = createHash('sha256').update(bytes).digest('hex')
  return {
    transaction: String(transaction),
    message: bytes,
    feePayer,
    payer,
    mint: asset,
    amount,
    messageHash,
    accounts,
    lookups,
    instructions,
    transfer,
    hasAssertions: instructions.some(({ program }) => program === LIGHTHOUSE_PROGRAM),
    destination,
  }
}

function refusal(reason: string, message: string, payer?: string): Refusal {
  return new Refusal(`invalid_exact_svm_${reason}`, message, payer)
}

interface Expected extends SolanaBounds {
  readonly payer: string
  readonly amount: bigint
  readonly memo: unknown
}

/** Checks the form that the specification gives a payment, and returns its transfer. */
function checkInstructions(instructions: readonly Instruction[], expected: Expected): Instruction {
  const { payer, maxUnits, maxUnitPrice } = expected
  const refuse = (reason: string, message: string) =>
    refusal(`payload_transaction_instructions_${reason}`, message, payer)
  const [limit, price, transfer, ...others] = instructions
  if (!limit || !price || !transfer || instructions.length > 7)
    throw refuse('length', 'Three to seven instructions are expected.')
  const units = budgetValue(limit, 2, 5)
  if (units === undefined)
    throw refuse('compute_limit_instruction', 'The first instruction must set the compute limit.')
  if (units > BigInt(maxUnits))
    throw refuse('compute_limit_instruction_too_high', `At most ${maxUnits} compute units are paid for.`)
  const unitPrice = budgetValue(price, 3, 9)
  if (unitPrice === undefined)
    throw refuse('compute_price_instruction', 'The second instruction must set the compute price.')
  if (unitPrice > maxUnitPrice)
    throw refuse(
      'compute_price_instruction_too_high',
      `At most ${maxUnitPrice} micro-lamports per unit are paid.`,
    )
  const amount = transferredAmount(transfer)
  if (amount === undefined)
    throw refusal('payload_no_transfer_instruction', 'The third instruction must be TransferChecked.', payer)
  if (amount !== expected.amount)
    throw refusal(
      'payload_amount_mismatch',
      `The transfer is of ${amount}, not of ${expected.amount}.`,
      payer,
    )
  for (const { program } of others) {
    if (program === MEMO_PROGRAM || program === LIGHTHOUSE_PROGRAM) continue
    throw refusal(
      'payload_unknown_optional_instruction',
      `The program ${program} is not expected after the transfer.`,
      payer,
    )
  }
  checkMemo(others, expected)
  return transfer
}

/** The number in an instruction of the compute budget, if it has this type and length. */
function budgetValue({ program, data }: Instruction, type: number, length: number): bigint | undefined {
  if (program !== COMPUTE_BUDGET_PROGRAM || data.length !== length || data[0] !== type) return undefined
  const view = new DataView(data.buffer, data.byteOffset)
  return length === 5 ? BigInt(view.getUint32(1, true)) : view.getBigUint64(1, true)
}

/** TransferChecked with a single owner and no further accounts, which hooks of Token-2022 would need. */
const TRANSFER_CHECKED = { type: 12, length: 10, accounts: 4 }

function transferredAmount({ program, data, accounts }: Instruction): bigint | undefined {
  if (!TOKEN_PROGRAMS.has(program) || accounts.length !== TRANSFER_CHECKED.accounts) return undefined
  if (data.length !== TRANSFER_CHECKED.length || data[0] !== TRANSFER_CHECKED.type) return undefined
  return new DataView(data.buffer, data.byteOffset).getBigUint64(1, true)
}

function checkMemo(others: readonly Instruction[], { memo, payer }: Expected): void {
  if (memo === undefined) return
  const memos = others.filter(({ program }) => program === MEMO_PROGRAM)
  if (memos.length !== 1) throw refusal('payload_memo_count', 'Exactly one memo is expected.', payer)
  if (Buffer.from(memos[0]?.data ?? []).equals(Buffer.from(String(memo)))) return
  throw refusal('payload_memo_mismatch', 'The memo is not what is required.', payer)
}
