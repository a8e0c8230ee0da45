import { readFile } from 'node:fs/promises'
import { isSecret } from '../../signers/key.ts'
import { decryptKeystore, isSeparate, KeystoreError } from '../../signers/keystore.ts'
import { type Terminal, UsageError } from '../command.ts'
import type { NewSecret } from './key-file.ts'
import { readPassphrase } from './passphrase.ts'

interface OpenKeyFile {
  readonly path: string
  readonly passphraseFile: string
  readonly terminal: Terminal
}

/**
 * Decrypts a key file.
 * @throws UsageError for a file that cannot be read or decrypted; never with content of the file
 */
export async function openKeyFile({ path, passphraseFile, terminal }: OpenKeyFile): Promise<NewSecret> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code}).`)
  })
  const passphrase = await readPassphrase(passphraseFile, terminal)
  try {
    const secret = await decryptKeystore(text, passphrase)
    if (isSecret(secret)) return { secret, separate: isSeparate(text) }
  } catch (error) {
    if (error instanceof KeystoreError) throw new UsageError(`${path} cannot be opened: ${error.message}.`)
    throw error
  }
  throw new UsageError(`${path} has no private key of 32 bytes.`)
}
