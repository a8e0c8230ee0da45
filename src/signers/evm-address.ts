import { getAddress } from 'viem/utils'
import { keccak256Hex } from '../lib/keccak256.ts'

/** The prefix of an uncompressed public key has one byte; an address is the last 20 of the 32 bytes of the hash of the rest. */
const PREFIX_BYTES = 1
const ADDRESS_DIGITS = 40

/** The EIP-55 address of an uncompressed secp256k1 public key (65 bytes, starting with 0x04). */
export function evmAddress(publicKey: Uint8Array): string {
  return getAddress(`0x${keccak256Hex(publicKey.subarray(PREFIX_BYTES)).slice(-ADDRESS_DIGITS)}`)
}
