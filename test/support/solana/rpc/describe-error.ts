import type { TransactionError } from '../runtime/errors.ts'

/** Sentences of the errors that clients meet most (solana-transaction-error and solana-instruction-error `Display`). */
const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  AccountLoadedTwice: 'Account loaded twice',
  TooManyAccountLocks: 'Transaction locked too many accounts',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  SignatureFailure: 'Transaction did not pass signature verification',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: 'Transaction loads an address table account with an invalid owner',
  InvalidAddressLookupTableData: 'Transaction loads an address table account with invalid data',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
}

const INSTRUCTION_SENTENCES: Readonly<Record<string, string>> = {
  InvalidArgument: 'invalid program argument',
  InvalidInstructionData: 'invalid instruction data',
  InvalidAccountData: 'invalid account data for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  ProgramFailedToComplete: 'Program failed to complete',
}

/** Describes a transaction error for people, like the validator. An unknown name stays as it is. */
export function describeError(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error
  const [name = '', detail] = Object.entries(error)[0] ?? []
  if (name === 'InsufficientFundsForRent') {
    const index = (detail as { account_index: number }).account_index
    return `Transaction results in an account (${index}) with insufficient funds for rent`
  }
  if (name === 'DuplicateInstruction')
    return `Transaction contains a duplicate instruction (${detail}) that is not allowed`
  if (name !== 'InstructionError') return `${name} ${JSON.stringify(detail)}`
  const [index, cause] = detail as [number, TransactionError]
  return `Error processing Instruction ${index}: ${describeInstructionError(cause)}`
}

function describeInstructionError(cause: TransactionError): string {
  if (typeof cause === 'string') return INSTRUCTION_SENTENCES[cause] ?? cause
  return `custom program error: 0x${Number(cause.Custom).toString(16)}`
}
