import type { SignerConfig } from '../config.ts'
import { ConfigError } from '../configuration/problems.ts'
import { KeystoreError } from './keystore-kdf.ts'
import { loadLocalSigner } from './local.ts'
import { loadPlainSigner } from './plain.ts'
import type { Signer } from './signer.ts'

/**
 * Opens every configured signer, by id. One after the other: each key file may take hundreds of megabytes to decrypt.
 * @throws ConfigError with all that cannot be opened
 */
export async function loadSigners(configs: readonly SignerConfig[]): Promise<Map<string, Signer>> {
  const signers = new Map<string, Signer>()
  const problems: string[] = []
  for (const config of configs) {
    const result = await load(config)
    if (typeof result === 'string') problems.push(`signer "${config.id}": ${result}`)
    else signers.set(config.id, result)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return signers
}

/** The signer, or what is wrong with it. */
async function load(config: SignerConfig): Promise<Signer | string> {
  if (config.type === 'plain') {
    return loadPlainSigner(config) ?? 'its key must be 64 hex digits that are a valid secp256k1 private key'
  }
  try {
    return await loadLocalSigner(config)
  } catch (error) {
    if (error instanceof KeystoreError) return `the key file ${config.path} cannot be read: ${error.message}`
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return code === 'ENOENT'
      ? `there is no key file ${config.path}`
      : `the key file ${config.path} cannot be read (${code})`
  }
}
