import type { SignerConfig } from '../config/load.ts'
import { ConfigError } from '../config/problems.ts'
import type { Key } from './key.ts'
import { KeystoreError } from './keystore/kdf.ts'
import { loadLocalKey } from './keystore/load.ts'
import { loadPlainKey } from './plain.ts'
import { PRIVATE_KEY_FORMS } from './private-key.ts'

/**
 * Opens every configured signer, by id. One after the other: each key file may take hundreds of megabytes to decrypt.
 * @throws ConfigError with all that cannot be opened
 */
export async function loadKeys(configs: readonly SignerConfig[]): Promise<Map<string, Key>> {
  const keys = new Map<string, Key>()
  const problems: string[] = []
  for (const config of configs) {
    const result = await load(config)
    if (typeof result === 'string') problems.push(`signer "${config.id}": ${result}`)
    else keys.set(config.id, result)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return keys
}

/** The key, or what is wrong with it. */
async function load(config: SignerConfig): Promise<Key | string> {
  if (config.type === 'plain') {
    return (await loadPlainKey(config)) ?? `its key must be a private key: ${PRIVATE_KEY_FORMS}`
  }
  try {
    return await loadLocalKey(config)
  } catch (error) {
    if (error instanceof KeystoreError) return `the key file ${config.path} cannot be read: ${error.message}`
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return code === 'ENOENT'
      ? `there is no key file ${config.path}`
      : `the key file ${config.path} cannot be read (${code})`
  }
}
