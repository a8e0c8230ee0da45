import { createHash } from 'node:crypto'
import { xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import { baseAddress } from '../state/assets.ts'

/** A transaction that consumes a sequence number: by itself, or inside a fee bump. */
export interface Transaction {
  /** The hash that its signatures sign and that identifies it; hex. */
  readonly hash: string
  /** SHA-256 of the whole envelope, signatures included; what the queue knows it by. */
  readonly fullHash: string
  /** Bytes of its own envelope, signatures included. */
  readonly size: number
  readonly tx: xdr.Transaction
  readonly signatures: readonly xdr.DecoratedSignature[]
  readonly source: string
  readonly sequence: bigint
  readonly operations: readonly xdr.Operation[]
  /** Resources and resource fee of a contract transaction. */
  readonly soroban: xdr.SorobanTransactionData | undefined
}

/** A submission: a transaction, or a fee bump around one (CAP-15). */
export interface Frame {
  readonly kind: 'transaction' | 'feeBump'
  readonly hash: string
  readonly fullHash: string
  readonly envelope: xdr.TransactionEnvelope
  readonly signatures: readonly xdr.DecoratedSignature[]
  /** The most that its payer is willing to pay, in stroops, resource fee included. */
  readonly fee: bigint
  readonly feeSource: string
  /** The number of operations for fees and capacity; a fee bump is one operation more than its inner transaction. */
  readonly operationCount: number
  /** The transaction itself, or the one inside. */
  readonly transaction: Transaction
}

/** Reads an envelope. Throws when it is not the XDR of one. */
export function decodeFrame(base64: string, network: Network): Frame {
  const envelope = currentEnvelope(xdr.TransactionEnvelope.fromXdr(base64, 'base64'))
  if (envelope.type === 'envelopeTypeTx') {
    const transaction = readTransaction(envelope.v1, network)
    const { hash, fullHash, signatures, source, operations, tx } = transaction
    const fee = BigInt(tx.fee)
    const operationCount = operations.length
    return {
      kind: 'transaction',
      hash,
      fullHash,
      envelope,
      signatures,
      fee,
      feeSource: source,
      operationCount,
      transaction,
    }
  }
  const { tx, signatures } = envelope.feeBump
  const transaction = readTransaction(tx.innerTx.v1, network)
  return {
    kind: 'feeBump',
    hash: hashOf(xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTxFeeBump(tx), network),
    fullHash: sha256(envelope.toXdr()),
    envelope,
    signatures,
    fee: tx.fee,
    feeSource: baseAddress(tx.feeSource),
    operationCount: transaction.operations.length + 1,
    transaction,
  }
}

type CurrentEnvelope = Exclude<xdr.TransactionEnvelope, { type: 'envelopeTypeTxV0' }>

/** Old envelopes are read as today's; their hash is the same (stellar-core `txbridge::convertForV13`). */
function currentEnvelope(envelope: xdr.TransactionEnvelope): CurrentEnvelope {
  if (envelope.type !== 'envelopeTypeTxV0') return envelope
  const { tx, signatures } = envelope.v0
  const { timeBounds } = tx
  return xdr.TransactionEnvelope.envelopeTypeTx(
    new xdr.TransactionV1Envelope({
      tx: new xdr.Transaction({
        sourceAccount: xdr.MuxedAccount.keyTypeEd25519(tx.sourceAccountEd25519),
        fee: tx.fee,
        seqNum: tx.seqNum,
        cond: timeBounds ? xdr.Preconditions.precondTime(timeBounds) : xdr.Preconditions.precondNone(),
        memo: tx.memo,
        operations: tx.operations,
        ext: xdr.TransactionExt.v0(),
      }),
      signatures,
    }),
  )
}

function readTransaction(v1: xdr.TransactionV1Envelope, network: Network): Transaction {
  const { tx, signatures } = v1
  const bytes = xdr.TransactionEnvelope.envelopeTypeTx(v1).toXdr()
  return {
    hash: hashOf(xdr.TransactionSignaturePayloadTaggedTransaction.envelopeTypeTx(tx), network),
    fullHash: sha256(bytes),
    size: bytes.length,
    tx,
    signatures,
    source: baseAddress(tx.sourceAccount),
    sequence: tx.seqNum,
    operations: tx.operations,
    soroban: tx.ext.type === 'sorobanData' ? tx.ext.sorobanData : undefined,
  }
}

/** stellar-core `TransactionFrame::getContentsHash`. */
function hashOf(
  taggedTransaction: xdr.TransactionSignaturePayloadTaggedTransaction,
  network: Network,
): string {
  const payload = new xdr.TransactionSignaturePayload({
    networkId: new xdr.Hash(network.id),
    taggedTransaction,
  })
  return sha256(payload.toXdr())
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
