import { type Command, EXIT, UsageError } from './command.ts'
import { generateKey, passphraseFileOf, writeKeyFile } from './key-file.ts'

/** `relayer keys create`. */
export const keysCreate: Command = {
  name: 'keys create',
  summary: 'Make a new private key in an encrypted key file.',
  usage: '<file> [--passphrase-file <file>]',
  help: [
    'Writes a version 3 key file (Web3 Secret Storage, scrypt) that geth, ethers and foundry can read, with mode 0600,',
    'and prints the address that the key has on EVM, Stellar and Solana. Nothing is overwritten.',
    '',
    '  --passphrase-file  A file whose first line is the passphrase. Made with a generated one when it is missing.',
    '                     Default: <file> with .passphrase in place of .json.',
    '',
    'Example: relayer keys create config/keys/hot.json',
  ],
  options: ['passphrase-file'],
  maxPositionals: 1,
  async run({ positionals: [path], options }, terminal) {
    if (!path) throw new UsageError('Name the file to write: relayer keys create <file>')
    const passphraseFile = options['passphrase-file'] ?? passphraseFileOf(path)
    const addresses = await writeKeyFile(generateKey(), { path, passphraseFile })
    terminal.out(`address     ${addresses.evm}`)
    terminal.out(`stellar     ${addresses.stellar}`)
    terminal.out(`solana      ${addresses.solana}`)
    terminal.out(`key file    ${path}`)
    terminal.out(`passphrase  ${passphraseFile}`)
    return EXIT.ok
  },
}
