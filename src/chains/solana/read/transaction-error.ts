import { fieldsOf } from './replies.ts'

/**
 * The meaning of an error for the transaction. `known`: the network already has it · `funds`: the fee payer has too little money · `wait`:
 * its blockhash or full blocks make it wait · `cluster`: the cluster does not process it now · `state`: it fails with the current accounts ·
 * `never`: no node will accept these bytes.
 */
export type ErrorMeaning = 'known' | 'funds' | 'wait' | 'cluster' | 'state' | 'never'

/**
 * Every variant of `TransactionError` (anza-xyz/solana-sdk, `transaction-error/src/lib.rs`; where each
 * arises: agave `svm/src/{account_loader,transaction_processor}.rs`,
 * `runtime/src/bank/check_transactions.rs`, `cost-model/src/cost_tracker.rs`).
 */
export const ERROR_MEANINGS: Readonly<Record<string, ErrorMeaning>> = {
  AlreadyProcessed: 'known',
  // The fee payer does not exist, or has too little for the fee.
  AccountNotFound: 'funds',
  InsufficientFundsForFee: 'funds',
  // The blockhash is too old, or too young for this node.
  BlockhashNotFound: 'wait',
  // Blocks are full, or accounts are busy.
  AccountInUse: 'wait',
  WouldExceedAccountDataBlockLimit: 'wait',
  WouldExceedAccountDataTotalLimit: 'wait',
  WouldExceedMaxAccountCostLimit: 'wait',
  WouldExceedMaxBlockCostLimit: 'wait',
  WouldExceedMaxVoteCostLimit: 'wait',
  // The cluster cannot process it.
  AccountBorrowOutstanding: 'cluster',
  ClusterMaintenance: 'cluster',
  CommitCancelled: 'cluster',
  ProgramCacheHitMaxLimit: 'cluster',
  ProgramExecutionTemporarilyRestricted: 'cluster',
  ResanitizationNeeded: 'cluster',
  // Programs, tables and balances currently have this state.
  AddressLookupTableNotFound: 'state',
  CallChainTooDeep: 'state',
  InstructionError: 'state',
  InsufficientFundsForRent: 'state',
  InvalidAccountForFee: 'state',
  InvalidAddressLookupTableData: 'state',
  InvalidAddressLookupTableIndex: 'state',
  InvalidAddressLookupTableOwner: 'state',
  InvalidProgramForExecution: 'state',
  InvalidRentPayingAccount: 'state',
  InvalidWritableAccount: 'state',
  MaxLoadedAccountsDataSizeExceeded: 'state',
  ProgramAccountNotFound: 'state',
  UnbalancedTransaction: 'state',
  // The bytes themselves are invalid.
  AccountLoadedTwice: 'never',
  DuplicateInstruction: 'never',
  InvalidAccountIndex: 'never',
  InvalidLoadedAccountsDataSizeLimit: 'never',
  MissingSignatureForFee: 'never',
  SanitizeFailure: 'never',
  SignatureFailure: 'never',
  TooManyAccountLocks: 'never',
  UnsupportedVersion: 'never',
}

/**
 * Errors of a transaction that a block contains and that was not executed: it has no effect and costs
 * nothing, because the network could not charge its fee payer (SIMD-0290), or because its durable nonce was
 * not the current one (SIMD-0297). Before these rules, no block contained a transaction with such an error.
 */
const UNEXECUTED: readonly string[] = [
  'AccountNotFound',
  'BlockhashNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
]

/** An error as nodes write it: the name of a variant, or an object with the name and its content. */
export interface TransactionFailure {
  readonly name: string
  readonly meaning: ErrorMeaning
  /** The instruction that failed, if one did. */
  readonly instruction?: number
  /** The error number of the program, if it returned one. */
  readonly custom?: number
  /**
   * For a transaction in a block. `no`: it was not executed and costs nothing · `unknown`: the error does not
   * show it, because a fee payer can be too poor for the fee, or be left with too little by the execution ·
   * absent: it was executed, and paid for.
   */
  readonly executed?: 'no' | 'unknown'
  /** A text for people: `InstructionError in instruction 0: custom program error 0x1`. */
  readonly description: string
}

/** The index of the fee payer. An error that it would keep less than the minimum is a lack of money. */
const PAYER = 0

/**
 * Reads `err` of a status, a simulation or a refusal. An unknown error counts as the state of the accounts.
 */
export function readFailure(err: unknown): TransactionFailure {
  if (typeof err === 'string') {
    const failure = { name: err, meaning: meaningOf(err), description: err }
    return UNEXECUTED.includes(err) ? { ...failure, executed: 'no' } : failure
  }
  const [name = 'unnamed error', detail] = Object.entries(fieldsOf(err))[0] ?? []
  const meaning = meaningOf(name)
  if (name !== 'InstructionError' || !Array.isArray(detail)) {
    const index = fieldsOf(detail).account_index
    const description = typeof index === 'number' ? `${name} of account ${index}` : name
    const poor = name === 'InsufficientFundsForRent' && index === PAYER
    return poor
      ? { name, meaning: 'funds', description, executed: 'unknown' }
      : { name, meaning, description }
  }
  return { name, meaning, ...readInstructionError(detail as unknown[]) }
}

function readInstructionError([index, reason]: readonly unknown[]) {
  const instruction = typeof index === 'number' ? index : 0
  const { Custom: custom } = fieldsOf(reason)
  const cause =
    typeof custom === 'number'
      ? `custom program error 0x${custom.toString(16)}`
      : typeof reason === 'string'
        ? reason
        : (Object.keys(fieldsOf(reason))[0] ?? 'unnamed error')
  const description = `InstructionError in instruction ${instruction}: ${cause}`
  return typeof custom === 'number' ? { instruction, custom, description } : { instruction, description }
}

function meaningOf(name: string): ErrorMeaning {
  return ERROR_MEANINGS[name] ?? 'state'
}
