import { open } from 'node:fs/promises'
import type { Secret } from '../../security/secret.ts'
import { createKey, createSeparateKey, isSecret, type Key } from '../key.ts'
import { KeystoreError } from './kdf.ts'
import { decryptKeystore, isSeparate } from './keystore.ts'

/** A key file has less than one KiB; a larger file is something else. */
const MAX_FILE_BYTES = 64 * 1024

/** A signer whose key is in an encrypted key file. */
export interface LocalSignerConfig {
  readonly id: string
  /** The path of the key file. */
  readonly path: string
  readonly passphrase: Secret
}

/** Loads the key of an encrypted key file (Web3 Secret Storage, version 3). */
export async function loadLocalKey(config: LocalSignerConfig): Promise<Key> {
  const text = await readSmallFile(config.path)
  const create = isSeparate(text) ? createSeparateKey : createKey
  const secret = await decryptKeystore(text, config.passphrase.reveal())
  if (!isSecret(secret)) throw new KeystoreError('it does not contain a private key')
  try {
    return create(config.id, secret)
  } finally {
    secret.fill(0)
  }
}

async function readSmallFile(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > MAX_FILE_BYTES) throw new KeystoreError(`it has ${size} bytes, more than any key file`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
