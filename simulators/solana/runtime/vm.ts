import {
  type Address,
  type EncodedAccount,
  getBase58Encoder,
  lamports,
  type SignatureBytes,
  type Transaction,
} from '@solana/kit'
import { Clock, FailedTransactionMetadata, LiteSVM, Rent, type TransactionMetadata } from 'litesvm'
import type { AccountState } from './account.ts'
import { readError, type TransactionError } from './errors.ts'
import { SYSTEM_PROGRAM } from './programs.ts'
import type { WireTransaction } from './transaction.ts'

/** The block that transactions run in. */
export interface Moment {
  readonly slot: bigint
  /** Blockhash of the block before it; base58. */
  readonly parentBlockhash: string
  /** Seconds since 1970. */
  readonly time: bigint
}

/** The effect of a run. */
export interface Execution {
  readonly err: TransactionError | null
  readonly meta: TransactionMetadata
  /** The writable accounts after it; only of a simulation that succeeded. */
  readonly postAccounts: ReadonlyMap<string, AccountState>
}

/** Accounts and the programs that change them, as they are at one moment. Runs real bytecode; knows no blocks. */
export interface Vm {
  account(address: Address): AccountState | undefined
  set(address: Address, account: AccountState | undefined): void
  enter(moment: Moment): void
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void
  /** Runs it and keeps what it changed. */
  execute(transaction: WireTransaction): Execution
  /** Runs it and keeps nothing. */
  simulate(transaction: WireTransaction): Execution
  rentExemption(dataLength: number): bigint
}

/**
 * Creates litesvm with the programs of SPL. The chain checks signatures, blockhashes and duplicates, because litesvm knows one blockhash at
 * a time. litesvm also uses a message's blockhash as that of the parent block, from which durable nonces are computed: so this function
 * writes the parent's into the message that it runs.
 */
export function createVm(lamportsPerByte: bigint): Vm {
  const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n)
  // Since SIMD-0194 the years are part of the rate.
  svm.setRent(new Rent(lamportsPerByte, 1, 50))
  let parent: Uint8Array = new Uint8Array(32)
  return {
    account: (address) => readAccount(svm, address),
    set: (address, account) => writeAccount(svm, address, account),
    enter({ slot, parentBlockhash, time }) {
      const epoch = slot / svm.getEpochSchedule().slotsPerEpoch
      svm.setClock(new Clock(slot, time, epoch, epoch + 1n, time))
      parent = Uint8Array.from(getBase58Encoder().encode(parentBlockhash))
    },
    setSlotHashes: (hashes) => svm.setSlotHashes(hashes),
    execute(transaction) {
      const result = svm.sendTransaction(forVm(transaction, parent))
      if (result instanceof FailedTransactionMetadata) return failed(result, isMissing(svm, transaction))
      return succeeded(result, [])
    },
    simulate(transaction) {
      const result = svm.simulateTransaction(forVm(transaction, parent))
      if (result instanceof FailedTransactionMetadata) return failed(result, isMissing(svm, transaction))
      return succeeded(result.meta(), result.postAccounts())
    },
    rentExemption: (dataLength) => svm.minimumBalanceForRentExemption(BigInt(dataLength)),
  }
}

/** litesvm calls a program that does not exist one that cannot be run; the network tells the two apart. */
function failed(result: FailedTransactionMetadata, isProgramMissing: boolean): Execution {
  const error = readError(result.err())
  const err = error === 'InvalidProgramForExecution' && isProgramMissing ? 'ProgramAccountNotFound' : error
  return { err, meta: result.meta(), postAccounts: new Map() }
}

function isMissing(svm: LiteSVM, { message }: WireTransaction): boolean {
  const programs = message.instructions.flatMap(({ programIndex }) => message.keys[programIndex] ?? [])
  return programs.some((program) => svm.getBalance(program) === null)
}

function succeeded(meta: TransactionMetadata, accounts: readonly EncodedAccount[]): Execution {
  return {
    err: null,
    meta,
    postAccounts: new Map(accounts.map((account) => [account.address, stateOf(account)])),
  }
}

function stateOf({ lamports, data, programAddress, executable }: EncodedAccount): AccountState {
  return { lamports, data: Uint8Array.from(data), owner: programAddress, executable }
}

function readAccount(svm: LiteSVM, address: Address): AccountState | undefined {
  const account = svm.getAccount(address)
  return account.exists ? stateOf(account) : undefined
}

/** An account without lamports is none: that is how litesvm removes one. */
function writeAccount(svm: LiteSVM, address: Address, account: AccountState | undefined): void {
  const data = account?.data ?? new Uint8Array()
  svm.setAccount({
    address,
    data,
    executable: account?.executable ?? false,
    lamports: lamports(account?.lamports ?? 0n),
    programAddress: account?.owner ?? SYSTEM_PROGRAM,
    space: BigInt(data.length),
  })
}

/** The transaction as litesvm takes it, with the parent's blockhash in it. */
function forVm({ message, signatures }: WireTransaction, parentBlockhash: Uint8Array): Transaction {
  const bytes = Uint8Array.from(message.bytes)
  bytes.set(parentBlockhash, message.blockhashOffset)
  const signed = signatures.map((signature, index) => [message.keys[index], signature as SignatureBytes])
  return {
    messageBytes: bytes as unknown as Transaction['messageBytes'],
    signatures: Object.fromEntries(signed),
  }
}
