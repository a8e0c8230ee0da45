import { createHash } from 'node:crypto'
import {
  type FeeBumpTransaction,
  LedgerBounds,
  MuxedAccount,
  Preconditions,
  PreconditionsV2,
  TransactionSignaturePayloadTaggedTransaction as TaggedTransaction,
  TimeBounds,
  Transaction,
  TransactionEnvelope,
  TransactionExt,
  TransactionSignaturePayload,
  type TransactionV0,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr'
import type { LedgerSequence, UnixSeconds } from '../content.ts'

/** The kind of a prebuilt envelope, and its content. */
export type ReadEnvelope =
  | { readonly kind: 'transaction'; readonly envelope: TransactionV1Envelope }
  | { readonly kind: 'fee_bump'; readonly tx: FeeBumpTransaction }

/**
 * Reads a `TransactionEnvelope`; undefined for other text. Version 0 is read as version 1: both are signed
 * over the same bytes (CAP-15), so its signatures stay valid.
 */
export function readEnvelope(base64: string): ReadEnvelope | undefined {
  const envelope = decode(base64)
  if (envelope === undefined) return undefined
  if (envelope.type === 'envelopeTypeTxFeeBump') return { kind: 'fee_bump', tx: envelope.feeBump.tx }
  if (envelope.type === 'envelopeTypeTx') return { kind: 'transaction', envelope: envelope.v1 }
  const { tx, signatures } = envelope.v0
  return { kind: 'transaction', envelope: new TransactionV1Envelope({ tx: upgrade(tx), signatures }) }
}

/**
 * Returns the transaction of an envelope that was checked before, or created by the service.
 * @throws Error for anything else
 */
export function openEnvelope(base64: string): TransactionV1Envelope {
  const read = readEnvelope(base64)
  if (read?.kind !== 'transaction') throw new Error('the envelope contains no transaction')
  return read.envelope
}

/** Writes a transaction without signatures, XDR in base64. */
export function closeEnvelope(tx: Transaction): string {
  return TransactionEnvelope.envelopeTypeTx(new TransactionV1Envelope({ tx, signatures: [] })).toXdr('base64')
}

/** Returns the same transaction with some of its fields changed. */
export function withFields(
  tx: Transaction,
  change: Partial<ConstructorParameters<typeof Transaction>[0]>,
): Transaction {
  const { sourceAccount, fee, seqNum, cond, memo, operations, ext } = tx
  return new Transaction({ sourceAccount, fee, seqNum, cond, memo, operations, ext, ...change })
}

/**
 * Returns the hash that is signed, and that identifies a transaction in the network: SHA-256 over the
 * network's id, the kind and the transaction (`TransactionSignaturePayload`).
 */
export function hashTransaction(tx: Transaction, passphrase: string): Buffer {
  return hashTagged(TaggedTransaction.envelopeTypeTx(tx), passphrase)
}

/**
 * Returns the hash of a fee bump (CAP-15). Its kind differs, so its hash differs from that of the transaction
 * inside.
 */
export function hashFeeBump(tx: FeeBumpTransaction, passphrase: string): Buffer {
  return hashTagged(TaggedTransaction.envelopeTypeTxFeeBump(tx), passphrase)
}

/**
 * Returns the id of the network, which everything that an account signs for it contains: SHA-256 of its
 * passphrase.
 */
export function networkIdOf(passphrase: string): Buffer {
  return sha256(passphrase)
}

/** A time bound from this Unix second on counts as none: a `Date` holds no later time. */
const NEVER = 8_640_000_000_000n

/**
 * Returns the newest close time, in Unix seconds, of a ledger that may include it; undefined if it may wait
 * for ever.
 */
export function maxTimeOf({ cond }: Transaction): UnixSeconds | undefined {
  const maxTime = boundsOf(cond)?.maxTime ?? 0n
  return maxTime === 0n || maxTime > NEVER ? undefined : (maxTime as UnixSeconds)
}

/**
 * Returns the first ledger that is too late (CAP-21 `maxLedger`; stellar-core `isTooLate`); undefined if
 * there is none.
 */
export function maxLedgerOf({ cond }: Transaction): LedgerSequence | undefined {
  const maxLedger = cond.type === 'precondV2' ? (cond.v2.ledgerBounds?.maxLedger ?? 0) : 0
  return maxLedger === 0 ? undefined : (BigInt(maxLedger) as LedgerSequence)
}

/** Returns the same conditions with this newest close time. */
export function withMaxTime(cond: Preconditions, maxTime: UnixSeconds): Preconditions {
  const timeBounds = new TimeBounds({ minTime: boundsOf(cond)?.minTime ?? 0n, maxTime })
  if (cond.type !== 'precondV2') return Preconditions.precondTime(timeBounds)
  const { ledgerBounds, minSeqNum, minSeqAge, minSeqLedgerGap, extraSigners } = cond.v2
  return Preconditions.precondV2(
    new PreconditionsV2({ timeBounds, ledgerBounds, minSeqNum, minSeqAge, minSeqLedgerGap, extraSigners }),
  )
}

/**
 * Returns preconditions under which no ledger after this one includes the transaction, and none that they
 * excluded before.
 */
export function withLastLedger(cond: Preconditions, last: number): Preconditions {
  const before = cond.type === 'precondV2' ? cond.v2 : undefined
  const { minLedger = 0, maxLedger = 0 } = before?.ledgerBounds ?? {}
  const end = Math.min(last + 1, MAX_UINT32)
  const ledgerBounds = new LedgerBounds({
    minLedger,
    maxLedger: maxLedger === 0 ? end : Math.min(maxLedger, end),
  })
  return Preconditions.precondV2(
    new PreconditionsV2({
      timeBounds: boundsOf(cond),
      ledgerBounds,
      minSeqNum: before?.minSeqNum ?? null,
      minSeqAge: before?.minSeqAge ?? 0n,
      minSeqLedgerGap: before?.minSeqLedgerGap ?? 0,
      extraSigners: before?.extraSigners ?? [],
    }),
  )
}

const MAX_UINT32 = 2 ** 32 - 1

/** Returns the fee for resources of smart contracts, in stroops; 0 without any. */
export function resourceFeeOf({ ext }: Transaction): bigint {
  return ext.type === 'sorobanData' ? ext.sorobanData.resourceFee : 0n
}

function boundsOf(cond: Preconditions): TimeBounds | null {
  if (cond.type === 'precondNone') return null
  return cond.type === 'precondTime' ? cond.timeBounds : cond.v2.timeBounds
}

function decode(base64: string): TransactionEnvelope | undefined {
  try {
    return TransactionEnvelope.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, not of this kind, or with bytes left over.
  }
}

function upgrade(tx: TransactionV0): Transaction {
  const { timeBounds, fee, seqNum, memo, operations } = tx
  return new Transaction({
    sourceAccount: MuxedAccount.keyTypeEd25519(tx.sourceAccountEd25519),
    fee,
    seqNum,
    cond: timeBounds === null ? Preconditions.precondNone() : Preconditions.precondTime(timeBounds),
    memo,
    operations,
    ext: TransactionExt.v0(),
  })
}

function hashTagged(taggedTransaction: TaggedTransaction, passphrase: string): Buffer {
  const payload = new TransactionSignaturePayload({ networkId: networkIdOf(passphrase), taggedTransaction })
  return sha256(payload.toXdr())
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}
