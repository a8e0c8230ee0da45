import { whole } from '../../lib/fields/field-types.ts'
import type { Secret } from '../../security/secret.ts'
import type { Key } from '../key.ts'
import type { LocalProvider } from './provider.ts'

interface MnemonicConfig {
  readonly mnemonic: Secret
  readonly passphrase?: Secret
  /** Selects one account of the seed. */
  readonly index: number
}

/** Indexes of derivation paths have 31 bits (BIP-32). */
const MAX_INDEX = 2 ** 31 - 1

/** One account of a seed phrase (BIP-39). Several signers may share a phrase, each with an index of its own. */
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
  const { createMnemonicKey, isMnemonic } = await import('../mnemonic/mnemonic-key.ts')
  const phrase = config.mnemonic.reveal()
  if (!isMnemonic(phrase))
    return 'its mnemonic must be 12, 15, 18, 21 or 24 words of the English list of BIP-39, with a right checksum'
  return createMnemonicKey(id, { phrase, passphrase: config.passphrase?.reveal() ?? '', index: config.index })
}
