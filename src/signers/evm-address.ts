import { publicKeyToAddress } from 'viem/accounts'

/** The EIP-55 address of an uncompressed secp256k1 public key (65 bytes, starting with 0x04). */
export function evmAddress(publicKey: Uint8Array): string {
  return publicKeyToAddress(`0x${Buffer.from(publicKey).toString('hex')}`)
}
