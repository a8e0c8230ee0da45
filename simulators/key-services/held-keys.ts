import {
  constants,
  createDecipheriv,
  createECDH,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  sign,
} from 'node:crypto'
import { libsecp256k1 } from '../../src/signers/secp256k1.ts'

/** A key of secp256k1, as key services hold it. */
export interface HeldSecp256k1 {
  /** Uncompressed, 65 bytes. */
  readonly point: Buffer
  readonly publicKey: KeyObject
  /** Returns r and s, another signature each time. As with real services, s is high in about half of them. */
  sign(digest: Uint8Array): Buffer
}

/** A key of Ed25519, as key services hold it. */
export interface HeldEd25519 {
  /** 32 bytes. */
  readonly point: Buffer
  readonly publicKey: KeyObject
  sign(message: Uint8Array): Buffer
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Opens a secret of 64 hex digits. */
export function holdSecp256k1(secret: string): HeldSecp256k1 {
  const key = Buffer.from(secret, 'hex')
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(key)
  const point = ecdh.getPublicKey()
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  return {
    point,
    publicKey: createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x, y }, format: 'jwk' }),
    sign: (digest) => {
      const { signature } = libsecp256k1().ecdsaSign(Uint8Array.from(digest), Uint8Array.from(key), {
        data: randomBytes(32),
      })
      const signed = Buffer.from(signature)
      return randomBytes(1).readUInt8() < 128 ? signed : withHighS(signed)
    },
  }
}

/** Opens a seed of 64 hex digits. */
export function holdEd25519(seed: string): HeldEd25519 {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.from(seed, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key)
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return { point: Buffer.from(x, 'base64url'), publicKey, sign: (message) => sign(null, message, key) }
}

/** Writes r and s in DER. */
export function toDer(signature: Buffer): Buffer {
  return Buffer.from(libsecp256k1().signatureExport(Uint8Array.from(signature)))
}

function withHighS(signature: Buffer): Buffer {
  const s = ORDER - BigInt(`0x${signature.subarray(32).toString('hex')}`)
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
}

/**
 * Decrypts a private key that was wrapped for an import (CKM_RSA_AES_KEY_WRAP with SHA-256): an AES key by RSA-OAEP, and after it PKCS #8 by AES
 * key wrap with padding. It throws for anything else.
 */
export function unwrapPrivateKey(wrapped: Buffer, wrappingKey: KeyObject): KeyObject {
  const length = (wrappingKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const aesKey = privateDecrypt(
    { key: wrappingKey, padding, oaepHash: 'sha256' },
    wrapped.subarray(0, length),
  )
  const decipher = createDecipheriv('id-aes256-wrap-pad', aesKey, Buffer.from('A65959A6', 'hex'))
  const plain = Buffer.concat([decipher.update(wrapped.subarray(length)), decipher.final()])
  return createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
}
