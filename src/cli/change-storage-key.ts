import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { appendManagement } from '../audit/append-store.ts'
import { CLI_AUTHOR } from '../audit/entry.ts'
import { loadConfig } from '../config/load.ts'
import type { Database } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { migrate } from '../database/migrate.ts'
import { sealUrls, withSealedColumns } from '../database/sealed-columns.ts'
import { ownerOf as ownerOfNotification } from '../notifications/keys.ts'
import { resealKeys } from '../notifications/keys-store.ts'
import { createSecret, readSealingKey, type Sealer, sealerOf } from '../security/secrets.ts'
import { ownerOf as ownerOfSigner } from '../signers/keyring.ts'
import { resealSigners } from '../signers/store.ts'
import { type Command, EXIT, UsageError } from './command.ts'
import { exists, writeNew } from './files.ts'
import { openForCommand } from './open-database.ts'

/** The key length of AES-256, in bytes. */
const SEALING_KEY_BYTES = 32

/** `relayer change-storage-key`. */
export const changeStorageKey: Command = {
  name: 'change-storage-key',
  summary: 'Encrypt the stored secrets with another STORAGE_ENCRYPTION_KEY.',
  usage: '--new-key-file <file>',
  help: [
    'Decrypts the signers, signing keys and URLs in the database with the current STORAGE_ENCRYPTION_KEY, and encrypts them with the new',
    'key, in one database transaction. Stop every process of the service first: one with the old key can decrypt nothing afterwards.',
    '',
    '  --new-key-file  A file whose first line is the new key, 32 bytes in base64. If it is missing, it is created with a generated one.',
    '',
    'Afterwards set STORAGE_ENCRYPTION_KEY to the new key and start the service. Older backups need the old key.',
    '',
    'Example: relayer change-storage-key --new-key-file config/storage.key',
  ],
  options: ['new-key-file'],
  maxPositionals: 0,
  async run({ options }, terminal) {
    const file = options['new-key-file']
    if (file === undefined)
      throw new UsageError('Name the file of the new key: relayer change-storage-key --new-key-file <file>')
    const config = loadConfig()
    const present = sealerOf(config.sealingKey)
    if (present === undefined)
      throw new UsageError(
        'STORAGE_ENCRYPTION_KEY is not set, so nothing is encrypted. Set it and start the service.',
      )
    const next = await sealerOfFile(file)
    const database = await openForCommand(config, 'change-storage-key')
    try {
      await migrate(database)
      const { signers, keys } = await sealAgain(database, { present, next })
      terminal.out(
        `The urls, signers (${signers}) and signing keys (${keys}) in the database are encrypted with the key in ${file}.`,
      )
      terminal.out('Set STORAGE_ENCRYPTION_KEY to that key before the service starts.')
      return EXIT.ok
    } finally {
      await database.close()
    }
  },
}

/** @throws UsageError if the file has no key */
async function sealerOfFile(file: string): Promise<Sealer> {
  if (!(await exists(file))) await writeNew(file, `${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`)
  const [key = ''] = (await readFile(file, 'utf8')).split(/\r?\n/, 1)
  const sealer = readSealingKey(key) && sealerOf(createSecret(key))
  if (sealer === undefined)
    throw new UsageError(`The first line of ${file} must be 32 bytes in base64 (44 characters).`)
  return sealer
}

/**
 * Everything is encrypted with one key at any time, also after a crash, because it happens in one database
 * transaction.
 */
function sealAgain(
  database: Database,
  { present, next }: { readonly present: Sealer; readonly next: Sealer },
): Promise<{ signers: number; keys: number }> {
  const reseal = (sealed: Uint8Array, owner: string) => next.seal(present.open(sealed, owner), owner)
  // Reads decrypt with the current key, and writes encrypt with the next one.
  const { db } = withSealedColumns(database, { open: present.open, seal: next.seal })
  return transact(db, async (tx) => {
    await sealUrls(tx, 'all')
    const signers = await resealSigners(tx, (sealed, id) => reseal(sealed, ownerOfSigner(id)))
    const keys = await resealKeys(tx, (sealed, id) => reseal(sealed, ownerOfNotification(id)))
    const target = { type: 'deployment', id: 'STORAGE_ENCRYPTION_KEY' } as const
    const after = { signers, signing_keys: keys }
    await appendManagement(tx, { author: CLI_AUTHOR, action: 'changeStorageKey', target, after })
    return { signers, keys }
  })
}
