import type { ClosedLedger } from '../chain.ts'

/** The first protocol whose ledgers tell their close time in milliseconds (CAP-88). */
const MILLISECOND_PROTOCOL = 30

/** Bytes of `LedgerHeaderHistoryEntry` before the header: its hash. */
export const HISTORY_HASH = 32

/** Bytes of a header before the extension of its `StellarValue`: version, two hashes, close time, and no upgrades. */
const BEFORE_EXTENSION = 4 + 32 + 32 + 8 + 4

/** `STELLAR_VALUE_SIGNED_MS`. */
const SIGNED_MS = 3

/**
 * Returns a header with the `StellarValue` of CAP-88, which the SDK can neither write nor read, where its protocol has it; `start` is its place in
 * the bytes.
 */
export function inMilliseconds({ header, closeTime }: ClosedLedger, bytes: Uint8Array, start = 0): Buffer {
  const plain = Buffer.from(bytes)
  if (header.ledgerVersion < MILLISECOND_PROTOCOL) return plain
  const at = start + BEFORE_EXTENSION
  const extension = Buffer.alloc(4 + 8 + 4 + 32 + 4 + 64)
  extension.writeUInt32BE(SIGNED_MS, 0)
  extension.writeBigUInt64BE(BigInt(closeTime) * 1_000n, 4)
  // The node's public key is zero, and so are the 64 bytes of its signature.
  extension.writeUInt32BE(64, 4 + 8 + 4 + 32)
  return Buffer.concat([plain.subarray(0, at), extension, plain.subarray(at + 4)])
}
