import { sql } from 'kysely'
import { UsageError } from '../src/cli/command.ts'
import { openDatabase } from '../src/database/database.ts'
import type { Database, Tx } from '../src/database/db.ts'
import { createLogger } from '../src/log.ts'
import { asEntries, type Entry } from './draft.ts'

/** The wallets, relayers and webhooks in thirdweb Engine's database, without their secrets. */
export interface EngineRecords {
  readonly configuration: Entry
  readonly wallets: readonly Entry[]
  readonly relayers: readonly Entry[]
  readonly webhooks: readonly Entry[]
  /** The chains that a wallet has sent on: `address` and `chainId`. */
  readonly nonces: readonly Entry[]
  /** The numbers of records that have no equal here, by table. */
  readonly counts: Readonly<Record<string, number>>
}

/**
 * The secrets of each table, which stay in the database. The keys of local wallets are encrypted, and are
 * read only to be written to files.
 */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  configuration: [
    'awsSecretAccessKey',
    'gcpApplicationCredentialPrivateKey',
    'authWalletEncryptedJson',
    'webhookAuthBearerToken',
    'mtlsCertificateEncrypted',
    'mtlsPrivateKeyEncrypted',
    'walletProviderConfigs',
  ],
  wallet_details: ['awsKmsSecretAccessKey', 'gcpApplicationCredentialPrivateKey'],
  webhooks: ['secret'],
}

/** Tables whose records have no equal here. */
const COUNTED = ['permissions', 'tokens', 'keypairs', 'contract_subscriptions'] as const

/**
 * Reads the records in one transaction that cannot write (PostgreSQL refuses every write in it). Tables and
 * columns that a version of Engine lacks are absent in the result. @throws UsageError if the database cannot
 * be opened
 */
export async function readEngine(url: string): Promise<EngineRecords> {
  // Prisma names the schema in the query of the URL.
  const schema = new URL(url).searchParams.get('schema') ?? 'public'
  const database = await open(url)
  try {
    return await database.db
      .transaction()
      .setAccessMode('read only')
      .execute((tx) => readAll(tx, schema))
  } finally {
    await database.close()
  }
}

async function open(url: string): Promise<Database> {
  try {
    return await openDatabase({ url, dataDir: '' }, createLogger({ level: 'silent' }))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`Engine's database at POSTGRES_CONNECTION_URL cannot be opened: ${message || code}.`)
  }
}

async function readAll(tx: Tx, schema: string): Promise<EngineRecords> {
  const read = (table: string) => readTable(tx, schema, table)
  const counts: Record<string, number> = {}
  for (const table of COUNTED) counts[table] = (await read(table)).length
  const [configuration = {}] = await read('configuration')
  return {
    configuration,
    wallets: await read('wallet_details'),
    relayers: await read('relayers'),
    webhooks: await read('webhooks'),
    nonces: await read('wallet_nonce'),
    counts,
  }
}

/** Every row as an object by the names of its columns. */
async function readTable(tx: Tx, schema: string, table: string): Promise<Entry[]> {
  const path = `"${schema.replaceAll('"', '""')}"."${table}"`
  const { rows: found } = await sql<{
    exists: boolean
  }>`select to_regclass(${path}) is not null as exists`.execute(tx)
  if (found[0]?.exists !== true) return []
  const { rows } = await sql<{ row: unknown }>`
    select to_jsonb(t) - ${SECRETS[table] ?? []}::text[] as row from ${sql.id(schema, table)} t
  `.execute(tx)
  return asEntries(rows.map(({ row }) => row))
}
