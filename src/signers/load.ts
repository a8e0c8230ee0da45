import { ConfigError } from '../lib/config-errors.ts'
import type { Secret } from '../security/secret.ts'
import { createKey, type Key } from './key.ts'
import { KeystoreError } from './keystore/kdf.ts'
import { type LocalSignerConfig, loadLocalKey } from './keystore/load.ts'
import { PRIVATE_KEY_FORMS, parsePrivateKey } from './private-key.ts'

/** A signer of the configuration. `local`: an encrypted key file · `plain`: a private key in one of its written forms. */
export type SignerConfig = LocalSignerConfig | PlainSignerConfig

interface PlainSignerConfig {
  readonly id: string
  readonly type: 'plain'
  readonly key: Secret
}

/**
 * Opens every configured signer, by id. They open one after the other, because a key file can take hundreds of megabytes to decrypt.
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

/** Returns the key, or a sentence about the problem. */
async function load(config: SignerConfig): Promise<Key | string> {
  return config.type === 'plain' ? loadPlainKey(config) : loadKeyFile(config)
}

async function loadPlainKey({ id, key }: PlainSignerConfig): Promise<Key | string> {
  const secret = await parsePrivateKey(key.reveal())
  return secret ? createKey(id, secret) : `its key must be a private key: ${PRIVATE_KEY_FORMS}`
}

async function loadKeyFile(config: LocalSignerConfig): Promise<Key | string> {
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
