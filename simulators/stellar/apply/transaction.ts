import { StrKey, type xdr } from '@stellar/stellar-sdk'
import { chargedFee, resourceFee } from '../fees.ts'
import type { Moment, Network } from '../network.ts'
import type { Programs } from '../soroban/contracts.ts'
import { contractEffects, createSorobanRun, type SorobanRun } from '../soroban/run.ts'
import { larger, smaller } from '../state/assets.ts'
import type { Effects } from '../state/meta.ts'
import { accountIn, type Change, type Changes, createChanges, knownAccount } from '../state/state.ts'
import type { Frame, Transaction } from '../transaction/frame.ts'
import { type FrameResult, type Outcome, succeeded, untouchedResult } from '../transaction/results.ts'
import { createSignatureChecker } from '../transaction/signatures.ts'
import { checkCommon } from '../transaction/validity.ts'
import type { Market } from './market.ts'
import { applyOperation, checkOperationSignature, sourceOf } from './operation.ts'

/** The ledger that a transaction becomes part of. */
export interface Closing {
  readonly network: Network
  readonly ledger: number
  readonly closeTime: bigint
  /** The price of an operation in it; stroops. */
  readonly baseFee: bigint
  readonly market: Market
  readonly programs: Programs
}

/** The result of a transaction in a ledger. */
export interface Application {
  readonly frameResult: FrameResult
  readonly effects: Effects
}

/** Takes the fee; of all transactions of a ledger before the first is applied (`processFeeSeqNum`). Gives what was taken. */
export function takeFee(frame: Frame, changes: Changes, baseFee: bigint): bigint {
  const payer = knownAccount(changes, frame.feeSource)
  const due = chargedFee(frame, baseFee)
  const fee = smaller(due, payer.balance)
  changes.set({ ...payer, balance: payer.balance - fee })
  return fee
}

/**
 * Applies a transaction whose fee was taken (`TransactionFrame::apply`, `FeeBumpTransactionFrame::apply`). It is part of
 * its ledger whatever comes of it; what was found invalid only now has cost its fee.
 */
export function applyFrame(
  frame: Frame,
  feeCharged: bigint,
  changes: Changes,
  closing: Closing,
): Application {
  const { transaction } = frame
  const prologue = createChanges(changes)
  if (frame.kind === 'feeBump') removeOneTimeSigners(prologue, [frame.feeSource], frame.hash)
  const refusal = authorise(frame, prologue, closing)
  const before = prologue.list()
  prologue.commitTo(changes)
  const soroban = createSorobanRun(transaction, closing.programs)
  const { outcome, operations } = refusal
    ? { outcome: refusal, operations: [] }
    : applyOperations(transaction, changes, closing, soroban)
  const contract =
    soroban && contractEffects(transaction, outcome.code === 'txSuccess' ? soroban.used : undefined)
  const effects: Effects = { before, operations, after: [], ...(contract && { contract }) }
  if (frame.kind === 'transaction') return { frameResult: { ...outcome, feeCharged }, effects }
  const inner = { ...outcome, feeCharged: innerFee(transaction, closing) }
  return { frameResult: { code: 'txSuccess', feeCharged, operations: [], inner }, effects }
}

/**
 * Gives back what was declared for events and rent, and not used (`TransactionFrame::processRefund`; since protocol 23
 * after all transactions of the ledger). The result names what was paid in the end.
 */
export function refund(frame: Frame, application: Application, changes: Changes): Application {
  const { frameResult, effects } = application
  if (!effects.contract) return application
  const { nonRefundableFee, refundableFee } = effects.contract
  const amount = resourceFee(frame.transaction) - nonRefundableFee - refundableFee
  const payer = accountIn(changes, frame.feeSource)
  if (amount <= 0n || !payer) return application
  const own = createChanges(changes)
  own.set({ ...payer, balance: payer.balance + amount })
  const after = own.list()
  own.commitTo(changes)
  const innerFee = larger(0n, (frameResult.inner?.feeCharged ?? 0n) - amount)
  const inner = frameResult.inner && { ...frameResult.inner, feeCharged: innerFee }
  return {
    frameResult: { ...frameResult, feeCharged: frameResult.feeCharged - amount, ...(inner && { inner }) },
    effects: { ...effects, after },
  }
}

/**
 * Everything before the operations: validity, the sequence number, signatures, one-time signers. Gives why nothing
 * more is done (`commonValid`, `processSeqNum`, `processSignatures`).
 */
function authorise(frame: Frame, changes: Changes, closing: Closing): Ending | undefined {
  const { transaction } = frame
  const { ledger, closeTime, network } = closing
  const moment: Moment = {
    network,
    view: changes,
    ledger,
    closeTime,
    earliest: 0n,
    latest: 0n,
    applying: true,
  }
  const checker = createSignatureChecker(transaction.hash, transaction.signatures)
  const payer = frame.kind === 'transaction' ? frame : undefined
  const { level, code } = checkCommon(transaction, payer, checker, moment)
  if (level !== 'invalid') {
    const account = knownAccount(changes, transaction.source)
    changes.set({
      ...account,
      sequence: transaction.sequence,
      sequenceLedger: ledger,
      sequenceTime: closeTime,
    })
  }
  const failures = transaction.operations.map((operation) =>
    level === 'valid' ? checkOperationSignature(operation, { transaction, checker, moment }) : undefined,
  )
  const sources = transaction.operations.map((operation) => sourceOf(operation, transaction))
  removeOneTimeSigners(changes, [transaction.source, ...sources], transaction.hash)
  if (level !== 'valid') return { code, operations: [] }
  if (failures.some((failure) => failure !== undefined)) {
    const operations = transaction.operations.map(
      ({ body }, index) => failures[index] ?? untouchedResult(body),
    )
    return { code: 'txFailed', operations }
  }
  return checker.allUsed() ? undefined : { code: 'txBadAuthExtra', operations: [] }
}

type Ending = Omit<Outcome, 'feeCharged'>

/** All operations or none; each is tried, so that all results are known (`TransactionFrame::applyOperations`). */
function applyOperations(
  transaction: Transaction,
  changes: Changes,
  { network, ledger, closeTime, market }: Closing,
  soroban: SorobanRun | undefined,
): { readonly outcome: Ending; readonly operations: Effects['operations'] } {
  const body = createChanges(changes)
  const lists: (readonly Change[])[] = []
  const results: xdr.OperationResult[] = []
  for (const [index, operation] of transaction.operations.entries()) {
    const own = createChanges(body)
    const source = sourceOf(operation, transaction)
    const context = {
      network,
      ledger,
      closeTime,
      market,
      transaction,
      index,
      source,
      changes: own,
      soroban,
    }
    const result = applyOperation(operation, context)
    results.push(result)
    if (!succeeded(result)) continue
    lists.push(own.list())
    own.commitTo(body)
  }
  if (!results.every(succeeded)) return { outcome: { code: 'txFailed', operations: results }, operations: [] }
  body.commitTo(changes)
  return { outcome: { code: 'txSuccess', operations: results }, operations: lists }
}

/** A signer that is the hash of this very transaction has served (`removeOneTimeSignerFromAllSourceAccounts`). */
function removeOneTimeSigners(changes: Changes, addresses: readonly string[], hash: string): void {
  const key = StrKey.encodePreAuthTx(Buffer.from(hash, 'hex'))
  for (const address of new Set(addresses)) {
    const account = accountIn(changes, address)
    if (!account?.signers.some((signer) => signer.key === key)) continue
    const signers = account.signers.filter((signer) => signer.key !== key)
    changes.set({ ...account, signers, subEntries: account.subEntries - 1 })
  }
}

/**
 * Returns the fee of the inner transaction in the result of a fee bump: nothing since protocol 25, before it the fee that it would have
 * paid by itself (`FeeBumpTransactionFrame::apply`). No one pays it.
 */
function innerFee(
  transaction: Transaction,
  { network, baseFee }: Pick<Closing, 'network' | 'baseFee'>,
): bigint {
  if (network.protocolVersion >= 25) return 0n
  const flat = resourceFee(transaction)
  const bid = BigInt(transaction.tx.fee) - flat
  const price = baseFee * BigInt(Math.max(1, transaction.operations.length))
  return flat + smaller(bid, price)
}
