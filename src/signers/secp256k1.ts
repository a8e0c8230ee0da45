import { libsecp256k1 } from './libsecp256k1.ts'
import type { Secp256k1Signer } from './signer.ts'

const KEY_BYTES = 32
const DIGEST_BYTES = 32

/** Accepts 32 bytes that are a number from 1 to the order of the curve less one. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return bytes.length === KEY_BYTES && libsecp256k1().privateKeyVerify(bytes)
}

/**
 * Creates a signer that keeps its key in this process, in a closure that no inspection of the object reaches.
 * `privateKey` must satisfy `isPrivateKey`; it is copied.
 */
export function createSecp256k1Signer(id: string, privateKey: Uint8Array): Secp256k1Signer {
  if (!isPrivateKey(privateKey)) throw new Error(`The bytes of signer "${id}" are not a secp256k1 key.`)
  const secp256k1 = libsecp256k1()
  const key = Uint8Array.from(privateKey)
  return Object.freeze({
    curve: 'secp256k1',
    id,
    publicKey: secp256k1.publicKeyCreate(key, false),
    async sign(digest: Uint8Array) {
      if (digest.length !== DIGEST_BYTES) throw new Error(`A digest has ${DIGEST_BYTES} bytes.`)
      // libsecp256k1 derives its nonce by RFC 6979 and always gives the lower s.
      const { signature, recid } = secp256k1.ecdsaSign(digest, key)
      return { r: signature.slice(0, 32), s: signature.slice(32), recovery: recid === 0 ? 0 : 1 }
    },
  } satisfies Secp256k1Signer)
}
