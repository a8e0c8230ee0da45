import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { PRIVATE_KEY_FORMS, parsePrivateKey } from '../../signers/key.ts'
import { encryptKeystore } from '../../signers/keystore.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import { replaceFile } from '../files.ts'
import {
  addressesOf,
  generateKey,
  makeKeyFile,
  openKeyFile,
  passphraseFileOf,
  printAddresses,
  usePassphrase,
} from './key-file.ts'

/** `relayer keys create`. */
export const keysCreate: Command = {
  name: 'keys create',
  summary: 'Create a new private key in an encrypted key file.',
  usage: '<file> [--passphrase-file <file>]',
  help: [
    'Writes a version 3 key file (Web3 Secret Storage, scrypt) that geth, ethers and foundry can read, with mode 0600,',
    'and prints its addresses on EVM, Stellar and Solana. Each network type has a separate key, derived from the one in the file;',
    'other tools read the EVM one. Existing files are never overwritten.',
    '',
    '  --passphrase-file  A file whose first line is the passphrase. If it is missing, it is created with a generated one.',
    '                     Default: <file> with .passphrase in place of .json.',
    '',
    'Example: relayer keys create config/keys/hot.json',
  ],
  options: ['passphrase-file'],
  maxPositionals: 1,
  async run({ positionals: [path], options }, terminal) {
    if (!path) throw new UsageError('Name the file to write: relayer keys create <file>')
    await makeKeyFile(generateKey(), { path, passphraseFile: options['passphrase-file'], terminal })
    return EXIT.ok
  },
}

/** `relayer keys show`. */
export const keysShow: Command = {
  name: 'keys show',
  summary: 'Print the addresses of a key file.',
  usage: '<file> [--passphrase-file <file>]',
  help: [
    'Opens the key file with its passphrase, and prints its addresses on EVM, Stellar and Solana. It never prints the key.',
    '',
    '  --passphrase-file  As in keys create.',
    '',
    'Example: relayer keys show config/keys/hot.json',
  ],
  options: ['passphrase-file'],
  maxPositionals: 1,
  async run({ positionals: [path], options }, terminal) {
    if (!path) throw new UsageError('Name the key file: relayer keys show <file>')
    const passphraseFile = options['passphrase-file'] ?? passphraseFileOf(path)
    printAddresses(await addressesOf(await openKeyFile({ path, passphraseFile, terminal })), terminal)
    return EXIT.ok
  },
}

/** `relayer keys import`. */
export const keysImport: Command = {
  name: 'keys import',
  summary: 'Put an existing private key into an encrypted key file.',
  usage: '<file> [--key-file <file>] [--passphrase-file <file>]',
  help: [
    'Reads the key from standard input or from --key-file, but never from the command line, because every user of the machine',
    `could read it there. Accepted forms: ${PRIVATE_KEY_FORMS}.`,
    'Writes and prints the same as keys create, but every network type uses the key as it is, so that its addresses stay.',
    '',
    '  --key-file         A file that contains only the private key.',
    '  --passphrase-file  As in keys create.',
    '',
    'Example: relayer keys import config/keys/hot.json < hot.key',
  ],
  options: ['key-file', 'passphrase-file'],
  maxPositionals: 1,
  async run({ positionals: [path], options }, terminal) {
    if (!path) throw new UsageError('Name the file to write: relayer keys import <file> < private-key')
    if (await parsePrivateKey(path))
      throw new UsageError(
        'A private key does not belong on the command line, because other users of this machine can read it there.',
      )
    const input = await readKey(options['key-file'])
    const key = await parsePrivateKey(input)
    if (!key) throw new UsageError(refusalOf(input))
    await makeKeyFile(
      { secret: key, separate: false },
      { path, passphraseFile: options['passphrase-file'], terminal },
    )
    return EXIT.ok
  },
}

async function readKey(file: string | undefined): Promise<string> {
  if (file === undefined) {
    // A typed key would stay on the screen.
    if (process.stdin.isTTY) throw new UsageError('Pass the key through a pipe or with --key-file.')
    return readAll(process.stdin)
  }
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Twelve to twenty-four lower-case words, as in BIP-39. */
const MNEMONIC = /^\s*[a-z]{3,8}(?:\s+[a-z]{3,8}){11,23}\s*$/

/** Says why the input is not taken, and never quotes it (I11). */
function refusalOf(input: string): string {
  if (/"(?:crypto|Crypto)"\s*:/.test(input))
    return 'The input is already an encrypted key file. Copy it, put its passphrase beside it, and show it with: relayer keys show <file>'
  if (MNEMONIC.test(input))
    return 'The input is a mnemonic, which has many keys. Pass the private key of one account, e.g. from: cast wallet private-key --mnemonic-path <file>'
  return `The input is not a private key. Accepted forms: ${PRIVATE_KEY_FORMS}.`
}

/** `relayer keys change-passphrase`. */
export const keysChangePassphrase: Command = {
  name: 'keys change-passphrase',
  summary: 'Encrypt a key file with another passphrase.',
  usage: '<file> --new-passphrase-file <file> [--passphrase-file <file>]',
  help: [
    'Opens the key file with its current passphrase, and replaces it with one for the new passphrase. The addresses stay the same. The',
    'old passphrase still opens copies of the old file, such as those in backups.',
    '',
    '  --new-passphrase-file  A file whose first line is the new passphrase. If it is missing, it is created with a generated one.',
    '  --passphrase-file      The file of the current passphrase, as in keys create.',
    '',
    'Afterwards point "passphrase" of the signer in config.json to the new file, and restart the service.',
    '',
    'Example: relayer keys change-passphrase config/keys/hot.json --new-passphrase-file config/keys/hot-2.passphrase',
  ],
  options: ['passphrase-file', 'new-passphrase-file'],
  maxPositionals: 1,
  async run({ positionals: [path], options }, terminal) {
    const newFile = options['new-passphrase-file']
    if (!path || newFile === undefined)
      throw new UsageError(
        'Name the key file and the new passphrase: relayer keys change-passphrase <file> --new-passphrase-file <file>',
      )
    const passphraseFile = options['passphrase-file'] ?? passphraseFileOf(path)
    const secret = await openKeyFile({ path, passphraseFile, terminal })
    const addresses = await addressesOf(secret)
    const passphrase = await usePassphrase(newFile, terminal)
    const { separate } = secret
    await replaceFile(
      path,
      await encryptKeystore(secret.secret, { passphrase, address: addresses.evm, separate }),
    )
    printAddresses(addresses, terminal)
    terminal.out(`key file    ${path}`)
    terminal.out(`passphrase  ${newFile}`)
    return EXIT.ok
  },
}
