import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { PRIVATE_KEY_FORMS, parsePrivateKey } from '../../signers/private-key.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import { makeKeyFile } from './key-file.ts'

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
    '  --key-file         A file with the private key and nothing else.',
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

/** Twelve to twenty-four words of small letters, as BIP-39 has them. */
const MNEMONIC = /^\s*[a-z]{3,8}(?:\s+[a-z]{3,8}){11,23}\s*$/

/** Says why the input is not taken, and never quotes it (I11). */
function refusalOf(input: string): string {
  if (/"(?:crypto|Crypto)"\s*:/.test(input))
    return 'The input is an encrypted key file already. Copy it as it is, put its passphrase beside it, and look at it with: relayer keys show <file>'
  if (MNEMONIC.test(input))
    return 'The input is a mnemonic, which has many keys. Pass the private key of one account, e.g. from: cast wallet private-key --mnemonic-path <file>'
  return `The input is not a private key. Accepted forms: ${PRIVATE_KEY_FORMS}.`
}
