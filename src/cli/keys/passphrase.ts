import { readFile, stat } from 'node:fs/promises'
import { type Terminal, UsageError } from '../command.ts'

/** Other users of the machine have these permissions on a file. */
const OTHERS = 0o077

/** A shorter passphrase is guessed in spite of scrypt's cost. */
const SHORTEST = 12

/**
 * Reads the first line of a passphrase file, and warns about a file that others can read and about a short passphrase.
 * @throws UsageError for a file that cannot be read or has no first line
 */
export async function readPassphrase(path: string, terminal: Terminal): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${path} cannot be read (${error.code}). Name the passphrase file: --passphrase-file <file>`,
    )
  })
  const passphrase = text.split(/\r?\n/, 1)[0]
  if (!passphrase) throw new UsageError(`The first line of ${path} is empty; it must be the passphrase.`)
  const { mode } = await stat(path)
  if ((mode & OTHERS) !== 0)
    terminal.err(
      `warning: other users can read ${path} (mode ${(mode & 0o777).toString(8)}): chmod 600 ${path}`,
    )
  if (passphrase.length < SHORTEST)
    terminal.err(
      `warning: the passphrase in ${path} has fewer than ${SHORTEST} characters, so it can be guessed`,
    )
  return passphrase
}
