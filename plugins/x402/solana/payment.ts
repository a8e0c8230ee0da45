import { createHash } from 'node:crypto'
import { type Address, isAddress } from '@solana/kit'
import {
  associatedAddress,
  COMPUTE_BUDGET_PROGRAM,
  decodeTransaction,
  type Instruction,
  isSignatureOf,
  TOKEN_PROGRAMS,
} from '../../shared/solana-transaction.ts'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest } from '../wire.ts'
import {
  budgetValue,
  checkMemo,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  refusal,
  type SolanaBounds,
  type SolanaMessage,
} from './message.ts'
import { checkWalletForm, receiversOf, type WalletBounds, type WalletPayment } from './wallet.ts'

/** A payment in SPL tokens, decoded and checked as far as that is possible without the chain. */
export interface SolanaPayment extends SolanaMessage {
  /** The one transfer; its accounts may be in tables. */
  readonly transfer: Instruction
  /**
   * True if it has instructions of Lighthouse, which fail it by anything that the chain says at that moment.
   */
  readonly hasAssertions: boolean
  /** Where the tokens must go: the payee's associated account under the program of the transfer. */
  readonly destination: string
}

/**
 * Decodes a payment, and compares it with what is required. `feePayer` is the relayer's account. Throws
 * {@link Refusal}.
 */
export async function decodeSolanaPayment(
  { payload, requirements }: PaymentRequest,
  feePayer: string,
  bounds: WalletBounds,
): Promise<SolanaPayment | WalletPayment> {
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
  const messageHash = createHash('sha256').update(bytes).digest('hex')
  const decodedPayment = {
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
  }
  const expected = { payer, amount, memo: extra.memo, ...bounds }
  const transfer = transferOrWallet(instructions, expected)
  if (transfer === 'wallet') return { ...decodedPayment, receivers: await receiversOf(payTo, asset) }
  return {
    ...decodedPayment,
    transfer,
    hasAssertions: instructions.some(({ program }) => program === LIGHTHOUSE_PROGRAM),
    destination: await associatedAddress(payTo, asset, transfer.program),
  }
}

/** Refusals of a form, which say nothing against the payment if a smart wallet makes it. */
const FORMS: ReadonlySet<string> = new Set(
  [
    'payload_transaction_instructions_length',
    'payload_transaction_instructions_compute_limit_instruction',
    'payload_transaction_instructions_compute_price_instruction',
    'payload_no_transfer_instruction',
    'payload_unknown_optional_instruction',
  ].map((reason) => `invalid_exact_svm_${reason}`),
)

/** Returns the transfer, or tells that a smart wallet makes it. @throws Refusal if the form is neither */
function transferOrWallet(
  instructions: readonly Instruction[],
  expected: Expected & WalletBounds,
): Instruction | 'wallet' {
  try {
    return checkInstructions(instructions, expected)
  } catch (error) {
    const isForm = error instanceof Refusal && FORMS.has(error.reason)
    if (!isForm || expected.walletPrograms.size === 0) throw error
    checkWalletForm(instructions, expected)
    return 'wallet'
  }
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
  const units = budgetOf(limit, 2, 5)
  if (units === undefined)
    throw refuse('compute_limit_instruction', 'The first instruction must set the compute limit.')
  if (units > BigInt(maxUnits))
    throw refuse('compute_limit_instruction_too_high', `At most ${maxUnits} compute units are paid for.`)
  const unitPrice = budgetOf(price, 3, 9)
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

function budgetOf({ program, data }: Instruction, type: number, length: number): bigint | undefined {
  return program === COMPUTE_BUDGET_PROGRAM ? budgetValue(data, type, length) : undefined
}

/** TransferChecked with a single owner and no further accounts, which hooks of Token-2022 would need. */
const TRANSFER_CHECKED = { type: 12, length: 10, accounts: 4 }

function transferredAmount({ program, data, accounts }: Instruction): bigint | undefined {
  if (!TOKEN_PROGRAMS.has(program) || accounts.length !== TRANSFER_CHECKED.accounts) return undefined
  if (data.length !== TRANSFER_CHECKED.length || data[0] !== TRANSFER_CHECKED.type) return undefined
  return new DataView(data.buffer, data.byteOffset).getBigUint64(1, true)
}
