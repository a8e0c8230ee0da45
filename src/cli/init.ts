import { randomBytes } from 'node:crypto'
import { join, normalize } from 'node:path'
import { type Command, EXIT } from './command.ts'
import { refuseExisting, writeNew } from './files.ts'
import { generateKey, writeKeyFile } from './keys/key-file.ts'
import { nextSteps, STARTER_CONFIG } from './starter.ts'

const DEFAULT_FOLDER = 'config'

/** The bytes of the API key before base64, which makes 43 characters; 32 are required. */
const API_KEY_BYTES = 32

/** The key length of AES-256, in bytes. */
const SEALING_KEY_BYTES = 32

/** `relayer init`. */
export const init: Command = {
  name: 'init',
  summary: 'Create a folder with everything that serve needs, for a local chain.',
  usage: '[folder]',
  help: [
    `Writes into [folder] (default ${DEFAULT_FOLDER}):`,
    '',
    '  config.json            one relayer on a local anvil',
    '  keys/local.json        a new private key, encrypted (mode 0600)',
    '  keys/local.passphrase  its generated passphrase (mode 0600)',
    '  .env                   a generated API_KEY, and a STORAGE_ENCRYPTION_KEY for secrets that are created over the API',
    '                         (mode 0600), read by serve from beside config.json',
    '',
    'and prints the next commands. Existing files are never overwritten.',
  ],
  options: [],
  maxPositionals: 1,
  async run({ positionals: [named] }, terminal) {
    const folder = normalize(named ?? DEFAULT_FOLDER).replace(/(?<=.)\/$/, '')
    const config = join(folder, 'config.json')
    const env = join(folder, '.env')
    const key = {
      path: join(folder, 'keys/local.json'),
      passphraseFile: join(folder, 'keys/local.passphrase'),
    }
    await refuseExisting([config, env, key.path, key.passphraseFile])

    const { evm: address } = await writeKeyFile(generateKey(), { ...key, terminal })
    await writeNew(env, secrets())
    // The configuration is written last, because its presence means that the folder is complete.
    await writeNew(config, `${JSON.stringify(STARTER_CONFIG, null, 2)}\n`, 0o644)

    terminal.out(`Created ${folder} with a new account ${address}.`)
    terminal.out(
      `The API key and the encryption key are in ${env}, the passphrase in ${key.passphraseFile}. Keep both files secret.`,
    )
    terminal.out('')
    for (const line of nextSteps(folder, address)) terminal.out(line)
    return EXIT.ok
  },
}

function secrets(): string {
  const apiKey = randomBytes(API_KEY_BYTES).toString('base64url')
  const sealingKey = randomBytes(SEALING_KEY_BYTES).toString('base64')
  return `API_KEY=${apiKey}\nSTORAGE_ENCRYPTION_KEY=${sealingKey}\n# Only programs on this machine reach the service. 0.0.0.0 lets others in; put TLS in front of it then.\nHOST=127.0.0.1\n`
}
