import type { Secret } from '../config/fields/secret.ts'
import { createKey, type Key } from './key.ts'
import { parsePrivateKey } from './private-key.ts'

/** A key that stands in the configuration or the environment. Undefined when it is none. */
export async function loadPlainKey(config: {
  readonly id: string
  readonly key: Secret
}): Promise<Key | undefined> {
  const secret = await parsePrivateKey(config.key.reveal())
  return secret && createKey(config.id, secret)
}
