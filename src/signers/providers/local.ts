import { open } from 'node:fs/promises'
import { whole } from '../../lib/fields.ts'
import type { Secret } from '../../security/secrets.ts'
import {
  createKey,
  createSeparateKey,
  isSecret,
  type Key,
  PRIVATE_KEY_FORMS,
  parsePrivateKey,
} from '../key.ts'
import { decryptKeystore, isSeparate, KeystoreError } from '../keystore.ts'
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

/** A key file has less than one KiB; a larger file is something else. */
const MAX_FILE_BYTES = 64 * 1024

/** A signer whose key is in an encrypted key file. */
interface LocalSignerConfig {
  readonly id: string
  /** The path of the key file. */
  readonly path: string
  readonly passphrase: Secret
}

/** Loads the key of an encrypted key file (Web3 Secret Storage, version 3). */
async function loadLocalKey(config: LocalSignerConfig): Promise<Key> {
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

interface MnemonicConfig {
  readonly mnemonic: Secret
  readonly passphrase?: Secret
  /** Selects one account of the seed. */
  readonly index: number
}

/** Indexes of derivation paths have 31 bits (BIP-32). */
const MAX_INDEX = 2 ** 31 - 1

/** One account of a seed phrase (BIP-39). Several signers can share a phrase, each with a different index. */
export const mnemonic: LocalProvider<MnemonicConfig> = {
  kind: 'local',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => {
    const passphrase = fields.findSecret('passphrase')
    return {
      mnemonic: fields.secret('mnemonic'),
      ...(passphrase && { passphrase }),
      index: fields.find('index', whole(0, MAX_INDEX)) ?? 0,
    }
  },
  show: ({ index }) => ({ index }),
  open: openAccount,
}

async function openAccount(id: string, config: MnemonicConfig): Promise<Key | string> {
  // Its list of words is large, so only a seed phrase loads it.
  const { createMnemonicKey, isMnemonic } = await import('./mnemonic-key.ts')
  const phrase = config.mnemonic.reveal()
  if (!isMnemonic(phrase))
    return 'its mnemonic must be 12, 15, 18, 21 or 24 words of the English list of BIP-39, with a right checksum'
  return createMnemonicKey(id, { phrase, passphrase: config.passphrase?.reveal() ?? '', index: config.index })
}
