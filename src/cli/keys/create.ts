import { type Command, EXIT, UsageError } from '../command.ts'
import { generateKey, makeKeyFile } from './key-file.ts'

/** `relayer keys create`. */
export const keysCreate: Command = {
  name: 'keys create',
  summary: 'Create a new private key in an encrypted key file.',
  usage: '<file> [--passphrase-file <file>]',
  help: [
    'Writes a version 3 key file (Web3 Secret Storage, scrypt) that geth, ethers and foundry can read, with mode 0600,',
    'and prints its addresses on EVM, Stellar and Solana. Each network type has a key of its own, derived from the one in the file;',
    'other tools read the one of EVM. Existing files are never overwritten.',
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
