import { constants, createCipheriv, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto'
import { type KeyMaterial, toPkcs8 } from './key-material.ts'

/** AES key wrap with padding (RFC 5649), and its initial value. */
const KEY_WRAP = 'id-aes256-wrap-pad'
const KEY_WRAP_IV = Buffer.from('A65959A6', 'hex')
const AES_KEY_BYTES = 32

/** Encrypts a private key, in PKCS #8, with the public key of a service: RSA-OAEP, SHA-256, also in MGF1. */
export function wrapWithRsa(material: KeyMaterial, publicKey: KeyObject): Buffer {
  const plain = toPkcs8(material)
  try {
    return oaep(publicKey, plain)
  } finally {
    plain.fill(0)
  }
}

/**
 * Encrypts a private key, in PKCS #8, for services that take a key of any length: a new AES key by RSA-OAEP (SHA-256), and after it the private
 * key by AES key wrap with padding. PKCS #11 names this CKM_RSA_AES_KEY_WRAP.
 */
export function wrapWithRsaAes(material: KeyMaterial, publicKey: KeyObject): Buffer {
  const plain = toPkcs8(material)
  const aesKey = randomBytes(AES_KEY_BYTES)
  try {
    const cipher = createCipheriv(KEY_WRAP, aesKey, KEY_WRAP_IV)
    return Buffer.concat([oaep(publicKey, aesKey), cipher.update(plain), cipher.final()])
  } finally {
    plain.fill(0)
    aesKey.fill(0)
  }
}

function oaep(key: KeyObject, plain: Buffer): Buffer {
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, plain)
}
