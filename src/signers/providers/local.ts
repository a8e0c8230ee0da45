import type { Secret } from '../../security/secret.ts'
import type { Key } from '../key.ts'
import { KeystoreError } from '../keystore/kdf.ts'
import { loadLocalKey } from '../keystore/load.ts'
import type { LocalProvider } from './provider.ts'

interface LocalConfig {
  /** The path of the key file. */
  readonly path: string
  readonly passphrase: Secret
}

/** An encrypted key file. */
export const local: LocalProvider<LocalConfig> = {
  kind: 'local',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({ path: fields.path('path'), passphrase: fields.secret('passphrase') }),
  show: () => ({}),
  open: loadKeyFile,
}

async function loadKeyFile(id: string, config: LocalConfig): Promise<Key | string> {
  try {
    return await loadLocalKey({ id, ...config })
  } catch (error) {
    if (error instanceof KeystoreError) return `the key file ${config.path} cannot be read: ${error.message}`
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return code === 'ENOENT'
      ? `there is no key file ${config.path}`
      : `the key file ${config.path} cannot be read (${code})`
  }
}
