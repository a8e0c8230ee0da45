import type { xdr } from '@stellar/stellar-sdk'
import type { Transaction } from '../transaction/frame.ts'
import type { TransactionCode } from '../transaction/results.ts'
import { nonRefundableFee } from './fees.ts'

/** The most that a transaction may declare (pubnet: `tx_max_instructions`, `tx_max_disk_read_bytes`, …). */
const MAX_INSTRUCTIONS = 100_000_000
const MAX_DISK_READ_BYTES = 200_000
const MAX_WRITE_BYTES = 132_096
const MAX_FOOTPRINT_ENTRIES = 100
const MAX_WRITE_ENTRIES = 50

/** In stroops; beyond it stellar-core does not calculate (`MAX_RESOURCE_FEE`). */
const MAX_RESOURCE_FEE = 1n << 50n

const CONTRACT_OPERATIONS: readonly string[] = [
  'invokeHostFunction',
  'extendFootprintTtl',
  'restoreFootprint',
]

/**
 * The part of `TransactionFrame::commonValidPreSeqNum` that is about contracts: one operation alone, its resources
 * within the limits, and a resource fee that covers them. `fee` is the full fee of a transaction that pays for itself.
 */
export function checkSoroban(transaction: Transaction, fee: bigint | undefined): TransactionCode | undefined {
  const { operations, soroban, size } = transaction
  const isContract = operations.some(isContractOperation)
  if (isContract !== (soroban !== undefined)) return 'txMalformed'
  if (!soroban) return undefined
  if (operations.length !== 1 || soroban.resourceFee < 0n || soroban.resourceFee > MAX_RESOURCE_FEE) {
    return 'txMalformed'
  }
  if (exceedsLimits(soroban.resources)) return 'txSorobanInvalid'
  if (fee !== undefined && soroban.resourceFee > fee) return 'txSorobanInvalid'
  if (soroban.resourceFee < nonRefundableFee(soroban.resources, size)) return 'txSorobanInvalid'
  return hasDuplicates(soroban.resources.footprint) ? 'txSorobanInvalid' : undefined
}

/**
 * Contract calls, and they alone, declare resources, with a fee that can be calculated with. Otherwise a node refuses the transaction before
 * it calculates a fee (stellar-core `TransactionQueue::tryAdd`, `XDRProvidesValidFee`).
 */
export function hasValidFee({ operations, soroban }: Transaction): boolean {
  const [first] = operations
  if ((first !== undefined && isContractOperation(first)) !== (soroban !== undefined)) return false
  return !soroban || (soroban.resourceFee >= 0n && soroban.resourceFee <= MAX_RESOURCE_FEE)
}

/**
 * A call must be readable by contracts in full: no memo, no muxed account, anyone who has signed for it (stellar-core
 * `TransactionFrame::validateSorobanMemo`).
 */
export function hasHiddenMemo(transaction: Transaction): boolean {
  const [operation] = transaction.operations
  if (operation?.body.type !== 'invokeHostFunction') return false
  const { memo, sourceAccount } = transaction.tx
  const accounts = [sourceAccount, operation.sourceAccount]
  return memo.type !== 'memoNone' || accounts.some((account) => account?.type === 'keyTypeMuxedEd25519')
}

function isContractOperation({ body }: xdr.Operation): boolean {
  return CONTRACT_OPERATIONS.includes(body.type)
}

function exceedsLimits({
  footprint,
  instructions,
  diskReadBytes,
  writeBytes,
}: xdr.SorobanResources): boolean {
  return (
    instructions > MAX_INSTRUCTIONS ||
    diskReadBytes > MAX_DISK_READ_BYTES ||
    writeBytes > MAX_WRITE_BYTES ||
    footprint.readOnly.length + footprint.readWrite.length > MAX_FOOTPRINT_ENTRIES ||
    footprint.readWrite.length > MAX_WRITE_ENTRIES
  )
}

function hasDuplicates({ readOnly, readWrite }: xdr.LedgerFootprint): boolean {
  const keys = [...readOnly, ...readWrite].map((key) => key.toXdr('base64'))
  return new Set(keys).size !== keys.length
}
