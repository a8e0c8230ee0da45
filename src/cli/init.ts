import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { PACKAGE_ROOT } from '../lib/package-files.ts'
import { type Command, EXIT } from './command.ts'
import { refuseExisting, writeNew } from './files.ts'
import { generateKey, writeKeyFile } from './keys/key-file.ts'

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
    '  .env                   a generated API_KEY, and a STORAGE_ENCRYPTION_KEY for secrets created over the API',
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
  return `API_KEY=${apiKey}\nSTORAGE_ENCRYPTION_KEY=${sealingKey}\n# Only programs on this machine reach the service. Use 0.0.0.0 to let others in, with TLS in front of it.\nHOST=127.0.0.1\n`
}

/** The starter configuration: one relayer on a local anvil. */
const STARTER_CONFIG = {
  relayers: [
    {
      id: 'local-1',
      name: 'Local',
      network: 'anvil',
      network_type: 'evm',
      signer_id: 'local',
      paused: false,
      policies: { gas_price_cap: 100_000_000_000 },
    },
  ],
  signers: [
    {
      id: 'local',
      type: 'local',
      config: { path: 'keys/local.json', passphrase: { type: 'file', value: 'keys/local.passphrase' } },
    },
  ],
  notifications: [],
  networks: [
    {
      type: 'evm',
      network: 'anvil',
      chain_id: 31_337,
      symbol: 'ETH',
      is_testnet: true,
      features: ['eip1559'],
      average_blocktime_ms: 1000,
      required_confirmations: 1,
      rpc_urls: ['http://127.0.0.1:8545'],
    },
  ],
} as const

/** 100 ether in hexadecimal wei. */
const STARTING_BALANCE = '0x56bc75e2d63100000'

/** Returns the next commands for the user after `init` created `folder` for `address`. */
function nextSteps(folder: string, address: string): readonly string[] {
  const setting = folder === 'config' ? '' : `CONFIG_DIR=${quote(folder)} `
  const fund = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'anvil_setBalance',
    params: [address, STARTING_BALANCE],
  })
  return [
    'Start a local chain, fund the account there, and start the service (each in its own terminal):',
    '',
    `  ${anvilCommand('--block-time 20')}`,
    `  curl -s http://127.0.0.1:8545 -H 'content-type: application/json' -d '${fund}'`,
    `  ${setting}${relayerCommand('serve')}`,
    '',
    'Then send it a request:',
    '',
    `  curl -s http://127.0.0.1:8080/api/v1/relayers -H "Authorization: Bearer $(sed -n 's/^API_KEY=//p' ${quote(`${folder}/.env`)})"`,
  ]
}

/** Quotes a path for a POSIX shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/**
 * The three ways to have the program: a clone of the repository, a package in a folder of modules, and the
 * image, or another copy of `dist`.
 */
type Installation = 'clone' | 'package' | 'copy'

/**
 * Gives the command line that a user types for arguments such as `init`, in the installation that this
 * program belongs to.
 */
export function relayerCommand(args: string, root: string = PACKAGE_ROOT): string {
  return COMMAND_LINES[installationOf(root)](args)
}

/** Gives the command line that starts a local chain. A clone has anvil among its development dependencies. */
export function anvilCommand(args: string, root: string = PACKAGE_ROOT): string {
  return installationOf(root) === 'clone' ? `npx anvil ${args}` : `npx @foundry-rs/anvil ${args}`
}

const COMMAND_LINES: Readonly<Record<Installation, (args: string) => string>> = {
  clone: (args) => (args === 'serve' ? 'npm start' : `npm run relayer -- ${args}`),
  package: (args) => `npx multichain-relayer ${args}`,
  copy: (args) => `relayer ${args}`,
}

function installationOf(root: string): Installation {
  if (root.replaceAll('\\', '/').endsWith('/node_modules/multichain-relayer')) return 'package'
  return existsSync(join(root, 'src')) ? 'clone' : 'copy'
}
