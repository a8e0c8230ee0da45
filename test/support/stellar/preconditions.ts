import { SignerKey, type xdr } from '@stellar/stellar-sdk'
import { type AccountEntry, INT64_MAX, startingSequence } from './entries.ts'
import type { Transaction } from './frame.ts'
import type { Moment } from './moment.ts'
import type { TransactionCode } from './results.ts'
import type { SignatureChecker } from './signatures.ts'

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
export function hasMalformedSigners(transaction: Transaction): boolean {
  const { extraSigners } = conditionsOf(transaction)
  const [first, second] = extraSigners
  if (first && second?.equals(first)) return true
  return extraSigners.some(
    (key) =>
      key.type === 'signerKeyTypeEd25519SignedPayload' && key.ed25519SignedPayload.payload.length === 0,
  )
}

/** `TransactionFrame::isTooEarly` and `isTooLate`: by close time, never by anybody's clock. A `maxTime` of 0 is none. */
export function checkBounds(transaction: Transaction, moment: Moment): TransactionCode | undefined {
  const { timeBounds, ledgerBounds } = conditionsOf(transaction)
  const { closeTime, earliest, latest, ledger } = moment
  if (timeBounds && timeBounds.minTime > closeTime + earliest) return 'txTooEarly'
  if (ledgerBounds && ledgerBounds.minLedger > ledger) return 'txTooEarly'
  if (timeBounds && timeBounds.maxTime !== 0n && timeBounds.maxTime < closeTime + latest) return 'txTooLate'
  if (ledgerBounds && ledgerBounds.maxLedger !== 0 && ledgerBounds.maxLedger <= ledger) return 'txTooLate'
  return undefined
}

/** `TransactionFrame::isBadSeq`. */
export function isBadSequence(transaction: Transaction, current: bigint, ledger: number): boolean {
  const { sequence } = transaction
  if (sequence === startingSequence(ledger)) return true
  const { minSeqNum } = conditionsOf(transaction)
  if (minSeqNum !== null) return current < minSeqNum || current >= sequence
  return current === INT64_MAX || current + 1n !== sequence
}

/** `TransactionFrame::isTooEarlyForAccount`. */
export function isTooEarlyFor(account: AccountEntry, transaction: Transaction, moment: Moment): boolean {
  const { minSeqAge, minSeqLedgerGap } = conditionsOf(transaction)
  const time = moment.closeTime + moment.earliest
  if (minSeqAge > time || time - minSeqAge < account.sequenceTime) return true
  return minSeqLedgerGap > moment.ledger || moment.ledger - minSeqLedgerGap < account.sequenceLedger
}

/** Each extra signer has signed (`TransactionFrame::checkExtraSigners`). */
export function hasExtraSignatures(transaction: Transaction, checker: SignatureChecker): boolean {
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
