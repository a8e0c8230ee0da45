import { constants, createDecipheriv, createPrivateKey, type KeyObject, privateDecrypt } from 'node:crypto'

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
