import { encryptKeystore } from '../../signers/keystore.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import { replaceFile } from '../files.ts'
import { addressesOf, passphraseFileOf, printAddresses, usePassphrase } from './key-file.ts'
import { openKeyFile } from './open-key-file.ts'

/** `relayer keys change-passphrase`. */
export const keysChangePassphrase: Command = {
  name: 'keys change-passphrase',
  summary: 'Encrypt a key file with another passphrase.',
  usage: '<file> --new-passphrase-file <file> [--passphrase-file <file>]',
  help: [
    'Opens the key file with its present passphrase, and replaces it by one that the new passphrase opens. The addresses stay. The',
    'old passphrase still opens copies of the old file, such as those in backups.',
    '',
    '  --new-passphrase-file  A file whose first line is the new passphrase. If it is missing, it is created with a generated one.',
    '  --passphrase-file      The file of the present passphrase, as in keys create.',
    '',
    'Afterwards let "passphrase" of the signer in config.json refer to the new file, and restart the service.',
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
