import { createPublicKey, type KeyObject } from 'node:crypto'
import { RemoteFault } from '../remote/remote-key.ts'

/** A shorter key protects less than the key that it is to protect, in bits. */
const SHORTEST_BITS = 2048

/**
 * Reads the public key with which a service wants private keys encrypted: PEM, or DER of a SubjectPublicKeyInfo.
 * @throws RemoteFault for anything but an RSA key
 */
export function readWrappingKey(key: string | Uint8Array): KeyObject {
  const found = parse(key)
  if (
    (found?.asymmetricKeyDetails?.modulusLength ?? 0) >= SHORTEST_BITS &&
    found?.asymmetricKeyType === 'rsa'
  )
    return found
  throw new RemoteFault('unavailable', 'gave no RSA key to encrypt the private key with')
}

function parse(key: string | Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey(
      typeof key === 'string' ? key : { key: Buffer.from(key), format: 'der', type: 'spki' },
    )
  } catch {
    return undefined
  }
}
