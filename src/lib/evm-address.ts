import { keccak256Hex } from './hash.ts'

/**
 * The networks whose wallets write the chain id into the checksum (EIP-1191): Rootstock and its test network.
 * It is used where an address belongs to no network yet, such as in the rules of an API key.
 */
const EIP_1191_CHAIN_IDS: readonly (number | bigint)[] = [30, 31]

/** Completes a sentence about a field with an address whose checksum is wrong. */
export const RIGHT_CHECKSUM =
  'an address in one letter case, or with the right checksum (EIP-55), is expected'

/**
 * Returns true for an address whose letters have both cases, and fit the checksum neither of EIP-55 nor of
 * EIP-1191 with one of the chain ids: that is almost always a typing error, and what is sent there is lost.
 * An address in one case has no checksum. The text is `0x` and 40 hexadecimal digits.
 */
export function hasWrongChecksum(address: string, chainIds = EIP_1191_CHAIN_IDS): boolean {
  const digits = address.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return false
  const prefixes = ['', ...chainIds.map((id) => `${id}0x`)]
  return !prefixes.some((prefix) => checksummed(lower, prefix) === digits)
}

/** Writes a letter as a capital where the hash of the digits has at least 8 in its place. */
function checksummed(lower: string, prefix: string): string {
  const hash = keccak256Hex(Buffer.from(prefix + lower)).slice(2)
  return Array.from(lower, (digit, at) => (Number(`0x${hash[at]}`) >= 8 ? digit.toUpperCase() : digit)).join(
    '',
  )
}
