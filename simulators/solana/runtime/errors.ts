import type { FailedTransactionMetadata } from 'litesvm'

/** A transaction error as JSON-RPC writes it: `"BlockhashNotFound"` or `{ "InstructionError": [0, { "Custom": 1 }] }`. */
export type TransactionError = string | Readonly<Record<string, unknown>>

type LitesvmError = ReturnType<FailedTransactionMetadata['err']>

/** Errors without fields, in the order of litesvm's numbers; the names are those of solana-transaction-error. */
const TRANSACTION_ERRORS =
  `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
  AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure
  InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit
  UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit
  TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData
  InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit
  MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction
  ProgramCacheHitMaxLimit CommitCancelled`.split(/\s+/)

/** The same for solana-instruction-error. */
const INSTRUCTION_ERRORS =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds
  IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction
  ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified
  DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged
  AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError
  ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth
  MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded
  PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable
  IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner
  MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
  BuiltinProgramsMustConsumeComputeUnits BorshIoError`.split(/\s+/)

/**
 * Errors that are found while the accounts are loaded: the transaction is in the block and pays, though nothing ran
 * (SIMD-0082; agave svm/src/transaction_processor.rs, `FeesOnly`).
 */
const FEES_ONLY: ReadonlySet<unknown> = new Set([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
])

/** Returns true if a transaction with this error is in the block all the same, without having run. */
export function isFeesOnly(error: TransactionError): boolean {
  return FEES_ONLY.has(error)
}

/** Errors of a payer that cannot pay the fee (agave svm/src/account_loader.rs `validate_fee_payer`). */
const ABOUT_PAYER: readonly unknown[] = ['AccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee']

/** Returns true if a transaction with this error could not even pay its fee. */
export function isAboutPayer(error: TransactionError): boolean {
  if (typeof error === 'string') return ABOUT_PAYER.includes(error)
  const rent = error.InsufficientFundsForRent as { account_index?: unknown } | undefined
  return rent?.account_index === 0
}

/** Translates an error of litesvm to the notation of JSON-RPC. */
export function readError(error: LitesvmError): TransactionError {
  if (typeof error === 'number') return nameOf(TRANSACTION_ERRORS, error)
  if ('err' in error) return { InstructionError: [error.index, readInstructionError(error.err())] }
  if ('accountIndex' in error) {
    return { [error.constructor.name.replace('TransactionError', '')]: { account_index: error.accountIndex } }
  }
  return { DuplicateInstruction: error.index }
}

function readInstructionError(error: number | { code: number } | { msg: string }): TransactionError {
  if (typeof error === 'number') return nameOf(INSTRUCTION_ERRORS, error)
  return 'code' in error ? { Custom: error.code } : 'BorshIoError'
}

function nameOf(names: readonly string[], index: number): string {
  const name = names[index]
  if (name === undefined)
    throw new Error(`litesvm knows an error of number ${index} that stands in no list here`)
  return name
}
