import type { xdr } from '@stellar/stellar-sdk'
import { divideUp } from '../state/assets.ts'

/**
 * The price of resources, in stroops: of the kinds that CAP-46-07 names, and only close to those of pubnet, so no test may rely on the
 * numbers.
 */
const PER_10_000_INSTRUCTIONS = 25n
const PER_DISK_READ_ENTRY = 6_250n
const PER_DISK_READ_KB = 1_786n
const PER_WRITE_ENTRY = 10_000n
const PER_WRITE_KB = 3_500n
const PER_TRANSACTION_KB = 1_624n + 16_235n
const PER_EVENT_KB = 10_000n
/** This many bytes live for this many ledgers for one stroop. */
const BYTE_LEDGERS_PER_STROOP = 100_000n
const KB = 1024n
/** A signed and wrapped transaction is larger than what is simulated; a simulation counts this much for it, in bytes. */
export const ENVELOPE_ALLOWANCE_BYTES = 600

/** The part of the resource fee that is spent whatever happens: by what was declared, not by what was used. */
export function nonRefundableFee(resources: xdr.SorobanResources, envelopeBytes: number): bigint {
  const { footprint, instructions, diskReadBytes, writeBytes } = resources
  const reads = BigInt(footprint.readOnly.length + footprint.readWrite.length)
  return (
    divideUp(BigInt(instructions) * PER_10_000_INSTRUCTIONS, 10_000n) +
    reads * PER_DISK_READ_ENTRY +
    divideUp(BigInt(diskReadBytes) * PER_DISK_READ_KB, KB) +
    BigInt(footprint.readWrite.length) * PER_WRITE_ENTRY +
    divideUp(BigInt(writeBytes) * PER_WRITE_KB, KB) +
    divideUp(BigInt(envelopeBytes) * PER_TRANSACTION_KB, KB)
  )
}

/** Returns the fee of events, from the part that is refunded when it is not used. */
export function eventFee(bytes: number): bigint {
  return divideUp(BigInt(bytes) * PER_EVENT_KB, KB)
}

/** The fee of `bytes` that live `ledgers` longer, from the same part. */
export function rentFee(bytes: number, ledgers: number): bigint {
  return ledgers <= 0 ? 0n : divideUp(BigInt(bytes) * BigInt(ledgers), BYTE_LEDGERS_PER_STROOP)
}
