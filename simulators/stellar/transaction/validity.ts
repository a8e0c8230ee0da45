import { SignerKey, type xdr } from '@stellar/stellar-sdk'
import { checkOperation } from '../apply/operation.ts'
import { bidOf, inclusionFee, minimumInclusionFee, nominalFee, resourceFee } from '../fees.ts'
import type { Moment } from '../network.ts'
import { checkSoroban } from '../soroban/validity.ts'
import { divideUp } from '../state/assets.ts'
import { type AccountEntry, availableBalance, INT64_MAX, startingSequence } from '../state/entries.ts'
import { accountIn } from '../state/state.ts'
import type { Frame, Transaction } from './frame.ts'
import { type FrameResult, type Outcome, type TransactionCode, untouchedResult } from './results.ts'
import { createSignatureChecker, type SignatureChecker, signersOf } from './signatures.ts'

/** The preconditions of a transaction (CAP-21), with the defaults of those that it does not have. */
interface Conditions {
  readonly timeBounds: xdr.TimeBounds | null
  readonly ledgerBounds: xdr.LedgerBounds | null
  readonly minSeqNum: bigint | null
  readonly minSeqAge: bigint
  readonly minSeqLedgerGap: number
  readonly extraSigners: readonly xdr.SignerKey[]
}

/** Extra signers that contradict themselves (`TransactionFrame::commonValidPreSeqNum`). */
function hasMalformedSigners(transaction: Transaction): boolean {
  const { extraSigners } = conditionsOf(transaction)
  const [first, second] = extraSigners
  if (first && second?.equals(first)) return true
  return extraSigners.some(
    (key) =>
      key.type === 'signerKeyTypeEd25519SignedPayload' && key.ed25519SignedPayload.payload.length === 0,
  )
}

/** `TransactionFrame::isTooEarly` and `isTooLate`: by close time, never by anyone's clock. A `maxTime` of 0 is none. */
function checkBounds(transaction: Transaction, moment: Moment): TransactionCode | undefined {
  const { timeBounds, ledgerBounds } = conditionsOf(transaction)
  const { closeTime, earliest, latest, ledger } = moment
  if (timeBounds && timeBounds.minTime > closeTime + earliest) return 'txTooEarly'
  if (ledgerBounds && ledgerBounds.minLedger > ledger) return 'txTooEarly'
  if (timeBounds && timeBounds.maxTime !== 0n && timeBounds.maxTime < closeTime + latest) return 'txTooLate'
  if (ledgerBounds && ledgerBounds.maxLedger !== 0 && ledgerBounds.maxLedger <= ledger) return 'txTooLate'
  return undefined
}

/** `TransactionFrame::isBadSeq`. */
function isBadSequence(transaction: Transaction, current: bigint, ledger: number): boolean {
  const { sequence } = transaction
  if (sequence === startingSequence(ledger)) return true
  const { minSeqNum } = conditionsOf(transaction)
  if (minSeqNum !== null) return current < minSeqNum || current >= sequence
  return current === INT64_MAX || current + 1n !== sequence
}

/** `TransactionFrame::isTooEarlyForAccount`. */
function isTooEarlyFor(account: AccountEntry, transaction: Transaction, moment: Moment): boolean {
  const { minSeqAge, minSeqLedgerGap } = conditionsOf(transaction)
  const time = moment.closeTime + moment.earliest
  if (minSeqAge > time || time - minSeqAge < account.sequenceTime) return true
  return minSeqLedgerGap > moment.ledger || moment.ledger - minSeqLedgerGap < account.sequenceLedger
}

/** Each extra signer has signed (`TransactionFrame::checkExtraSigners`). */
function hasExtraSignatures(transaction: Transaction, checker: SignatureChecker): boolean {
  return conditionsOf(transaction).extraSigners.every((key) =>
    checker.check([{ key: SignerKey.encodeSignerKey(key), weight: 1 }], 1),
  )
}

function conditionsOf({ tx: { cond } }: Transaction): Conditions {
  if (cond.type === 'precondV2') return cond.v2
  return {
    timeBounds: cond.type === 'precondTime' ? cond.timeBounds : null,
    ledgerBounds: null,
    minSeqNum: null,
    minSeqAge: 0n,
    minSeqLedgerGap: 0,
    extraSigners: [],
  }
}

/** The stage that a transaction reached. An `invalid` one leaves no trace; the others use up their sequence number when applied. */
export type Level = 'invalid' | 'usesSequence' | 'authorised' | 'valid'

/** The first thing that was found wrong, and how far it came. */
export interface Finding {
  readonly level: Level
  readonly code: TransactionCode
}

/** Checks that a frame could be applied at this moment (`TransactionFrame::checkValid`, `FeeBumpTransactionFrame::checkValid`). */
export function checkValid(frame: Frame, moment: Moment): FrameResult {
  const { baseFee } = moment.network
  const feeCharged = nominalFee(frame, baseFee)
  if (frame.kind === 'transaction') {
    return { ...checkTransaction(frame.transaction, frame, moment), feeCharged }
  }
  const checker = createSignatureChecker(frame.hash, frame.signatures)
  const problem = checkFeeBump(frame, checker, moment)
  if (problem) return { feeCharged, operations: [], ...problem }
  if (!checker.allUsed()) return { code: 'txBadAuthExtra', feeCharged, operations: [] }
  const inner = { ...checkTransaction(frame.transaction, undefined, moment), feeCharged: 0n }
  return { code: 'txSuccess', feeCharged, operations: [], inner }
}

/**
 * Checks a transaction besides its operations, in the order of stellar-core (`TransactionFrame::commonValid`). `payer` is the frame when
 * the transaction pays for itself.
 */
export function checkCommon(
  transaction: Transaction,
  payer: Frame | undefined,
  checker: SignatureChecker,
  moment: Moment,
): Finding {
  const early = checkWithoutAccount(transaction, payer, moment)
  if (early) return { level: 'invalid', code: early }
  const account = accountIn(moment.view, transaction.source)
  if (!account) return { level: 'invalid', code: 'txNoAccount' }
  if (isBadSequence(transaction, account.sequence, moment.ledger)) {
    return { level: 'invalid', code: 'txBadSeq' }
  }
  if (isTooEarlyFor(account, transaction, moment))
    return { level: 'usesSequence', code: 'txBadMinSeqAgeOrGap' }
  if (!checker.check(signersOf(account), account.thresholds.low)) {
    return { level: 'usesSequence', code: 'txBadAuth' }
  }
  if (!hasExtraSignatures(transaction, checker)) return { level: 'usesSequence', code: 'txBadAuth' }
  const fee = moment.applying || !payer ? 0n : payer.fee
  if (payer && availableBalance(account, moment.network.baseReserve) < fee) {
    return { level: 'authorised', code: 'txInsufficientBalance' }
  }
  return { level: 'valid', code: 'txSuccess' }
}

/** Checks a fee bump besides its inner transaction (CAP-15, `FeeBumpTransactionFrame::commonValid`); undefined if it is valid. */
function checkFeeBump(
  frame: Frame,
  checker: SignatureChecker,
  moment: Moment,
): { code: TransactionCode; feeCharged?: bigint } | undefined {
  const { network, view, applying } = moment
  const fee = inclusionFee(frame)
  if (fee < minimumInclusionFee(frame.operationCount, network)) return { code: 'txInsufficientFee' }
  const needed = feeToOutbidInner(frame)
  if (needed !== undefined && fee < needed) return { code: 'txInsufficientFee', feeCharged: needed }
  const payer = accountIn(view, frame.feeSource)
  if (!payer) return { code: 'txNoAccount' }
  if (!checker.check(signersOf(payer), payer.thresholds.low)) return { code: 'txBadAuth' }
  const due = applying ? 0n : frame.fee
  return availableBalance(payer, network.baseReserve) < due ? { code: 'txInsufficientBalance' } : undefined
}

/** The inclusion fee at which a bump offers the rate of what it wraps; nothing when that one offers less than nothing. */
function feeToOutbidInner(frame: Frame): bigint | undefined {
  const { transaction } = frame
  const inner = BigInt(transaction.tx.fee) - resourceFee(transaction)
  if (inner < 0n) return undefined
  const operations = BigInt(Math.max(1, transaction.operations.length))
  return divideUp(inner * BigInt(bidOf(frame).operations), operations)
}

/** `TransactionFrame::commonValidPreSeqNum`. */
function checkWithoutAccount(
  transaction: Transaction,
  payer: Frame | undefined,
  moment: Moment,
): TransactionCode | undefined {
  if (hasMalformedSigners(transaction)) return 'txMalformed'
  if (transaction.operations.length === 0) return 'txMissingOperation'
  const soroban = checkSoroban(transaction, payer?.fee)
  if (soroban) return soroban
  const bounds = checkBounds(transaction, moment)
  if (bounds) return bounds
  // The inner transaction of a fee bump may bid anything: since protocol 23 even less than its resource fee.
  if (!payer) return undefined
  const minimum = minimumInclusionFee(payer.operationCount, moment.network)
  return inclusionFee(payer) < minimum ? 'txInsufficientFee' : undefined
}

function checkTransaction(
  transaction: Transaction,
  payer: Frame | undefined,
  moment: Moment,
): Omit<Outcome, 'feeCharged'> {
  const checker = createSignatureChecker(transaction.hash, transaction.signatures)
  const { level, code } = checkCommon(transaction, payer, checker, moment)
  if (level !== 'valid') return { code, operations: [] }
  for (const [failed, operation] of transaction.operations.entries()) {
    const failure = checkOperation(operation, { transaction, checker, moment })
    if (!failure) continue
    // stellar-core stops at the first failure, too: the results around it say nothing.
    const results = transaction.operations.map(({ body }, at) =>
      at === failed ? failure : untouchedResult(body),
    )
    return { code: 'txFailed', operations: results }
  }
  return { code: checker.allUsed() ? 'txSuccess' : 'txBadAuthExtra', operations: [] }
}
