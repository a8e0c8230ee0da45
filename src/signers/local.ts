import { open } from 'node:fs/promises'
import type { Secret } from '../configuration/secret.ts'
import { decryptKeystore } from './keystore.ts'
import { KeystoreError } from './keystore-kdf.ts'
import { createSecp256k1Signer, isPrivateKey } from './secp256k1.ts'
import type { Secp256k1Signer } from './signer.ts'

/** A key file has less than one KiB; whatever is larger is something else. */
const MAX_FILE_BYTES = 64 * 1024

interface LocalSignerConfig {
  readonly id: string
  /** An encrypted key file. */
  readonly path: string
  readonly passphrase: Secret
}

/** A signer whose key is in an encrypted key file (Web3 Secret Storage, version 3). */
export async function loadLocalSigner(config: LocalSignerConfig): Promise<Secp256k1Signer> {
  const key = await decryptKeystore(await readSmallFile(config.path), config.passphrase.reveal())
  if (!isPrivateKey(key)) throw new KeystoreError('it does not contain a secp256k1 key')
  try {
    return createSecp256k1Signer(config.id, key)
  } finally {
    key.fill(0)
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
