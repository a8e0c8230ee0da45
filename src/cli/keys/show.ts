import { type Command, EXIT, UsageError } from '../command.ts'
import { addressesOf, passphraseFileOf, printAddresses } from './key-file.ts'
import { openKeyFile } from './open-key-file.ts'

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
