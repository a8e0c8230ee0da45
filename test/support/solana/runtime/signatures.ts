import { createPublicKey, verify } from 'node:crypto'
import { type Address, getAddressEncoder } from '@solana/kit'
import type { WireTransaction } from './transaction.ts'

/** The bytes before the 32 bytes of an ed25519 key in SPKI (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

const toBytes = getAddressEncoder()

/** Returns true when every signature is one of the signed bytes by its key (solana-transaction `verify`). */
export function isSigned({ signatures, message }: WireTransaction): boolean {
  return signatures.every((signature, index) => {
    const key = message.keys[index]
    return key !== undefined && isSignedBy(key, message.bytes, signature)
  })
}

function isSignedBy(address: Address, bytes: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([SPKI_PREFIX, Buffer.from(toBytes.encode(address))])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, bytes, key, signature)
}
