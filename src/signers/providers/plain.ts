import type { Secret } from '../../security/secret.ts'
import { createKey, type Key } from '../key.ts'
import { PRIVATE_KEY_FORMS, parsePrivateKey } from '../private-key.ts'
import type { LocalProvider } from './provider.ts'

interface PlainConfig {
  readonly key: Secret
}

/** A private key in one of its written forms. */
export const plain: LocalProvider<PlainConfig> = {
  kind: 'local',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({ key: fields.secret('key') }),
  show: () => ({}),
  open: openPlainKey,
}

async function openPlainKey(id: string, { key }: PlainConfig): Promise<Key | string> {
  const secret = await parsePrivateKey(key.reveal())
  return secret ? createKey(id, secret) : `its key must be a private key: ${PRIVATE_KEY_FORMS}`
}
