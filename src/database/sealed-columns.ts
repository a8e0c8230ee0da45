import {
  type ColumnUpdateNode,
  type InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  type RootOperationNode,
  sql,
  type UnknownRow,
} from 'kysely'
import type { Database, Db, Tx } from './db.ts'
import { transact } from './locks/transact.ts'

/** Encrypts texts. Sealed bytes of one owner do not open for another. */
export interface ColumnSealer {
  seal(text: string, owner: string): Uint8Array
  open(sealed: Uint8Array, owner: string): string
}

/** A sealed value cannot be opened without the key. */
class SealingKeyMissingError extends Error {
  override readonly name = 'SealingKeyMissingError'

  constructor(column: string) {
    super(
      `The database has encrypted values in the column "${column}": STORAGE_ENCRYPTION_KEY is needed to decrypt them.`,
    )
  }
}

/**
 * The columns with urls and inputs that can contain credentials, and their types. The names are unique in the
 * schema, because a result does not name the table of a column. SQL can compare none of them: equal texts
 * have different sealed forms.
 */
const SEALED_COLUMNS: ReadonlyMap<string, 'jsonb' | 'text'> = new Map([
  ['custom_rpc_urls', 'jsonb'],
  ['rpc_urls', 'jsonb'],
  ['private_rpc_urls', 'jsonb'],
  ['url', 'text'],
  ['proposed_input', 'text'],
])

/** The beginning of a sealed value. No url begins so, and no list of urls is a JSON string. */
const SEALED_PREFIX = 'sealed:'

/**
 * Returns the database with these columns encrypted: queries write sealed values, and read sealed and plain
 * ones. Without a sealer they write plain values, and a sealed one is an error.
 */
export function withSealedColumns(database: Database, sealer: ColumnSealer | undefined): Database {
  const plugin = createPlugin(sealer)
  return { ...database, db: database.db.withPlugin(plugin) }
}

function createPlugin(sealer: ColumnSealer | undefined): KyselyPlugin {
  return {
    transformQuery: ({ node }) => (sealer === undefined ? node : sealQuery(node, sealer)),
    transformResult: async ({ result }) => ({
      ...result,
      rows: result.rows.map((row) => openRow(row, sealer)),
    }),
  }
}

function openRow(row: UnknownRow, sealer: ColumnSealer | undefined): UnknownRow {
  let opened = row
  for (const [column, type] of SEALED_COLUMNS) {
    const value = row[column]
    if (typeof value !== 'string' || !value.startsWith(SEALED_PREFIX)) continue
    if (sealer === undefined) throw new SealingKeyMissingError(column)
    const text = sealer.open(Buffer.from(value.slice(SEALED_PREFIX.length), 'base64'), column)
    opened = { ...opened, [column]: type === 'jsonb' ? JSON.parse(text) : text }
  }
  return opened
}

function sealQuery(node: RootOperationNode, sealer: ColumnSealer): RootOperationNode {
  if (node.kind === 'UpdateQueryNode' && node.updates)
    return { ...node, updates: node.updates.map((update) => sealUpdate(update, sealer)) }
  return node.kind === 'InsertQueryNode' ? sealInsert(node, sealer) : node
}

function sealInsert(node: InsertQueryNode, sealer: ColumnSealer): InsertQueryNode {
  const { columns = [], values, onConflict } = node
  const names = columns.map(({ column }) => column.name)
  const updates = onConflict?.updates?.map((update) => sealUpdate(update, sealer))
  return {
    ...node,
    ...(values && { values: sealRows(values, names, sealer) }),
    ...(onConflict && { onConflict: updates ? { ...onConflict, updates } : onConflict }),
  }
}

function sealRows(values: OperationNode, names: readonly string[], sealer: ColumnSealer): OperationNode {
  const { kind } = values
  if (!isList(values)) return values
  if (kind === 'ValuesNode') return listOf(values, (row) => sealRows(row as OperationNode, names, sealer))
  return listOf(values, (value, index) => {
    const column = names[index] ?? ''
    return kind === 'PrimitiveValueListNode'
      ? sealValue(column, value, sealer)
      : sealNode(column, value as OperationNode, sealer)
  })
}

function sealUpdate(update: ColumnUpdateNode, sealer: ColumnSealer): ColumnUpdateNode {
  return { ...update, value: sealNode(nameOf(update.column), update.value, sealer) }
}

/** @throws Error for an expression, which would store a plain value */
function sealNode(column: string, node: OperationNode, sealer: ColumnSealer): OperationNode {
  if (!SEALED_COLUMNS.has(column)) return node
  if (node.kind !== 'ValueNode' || !('value' in node))
    throw new Error(`the sealed column ${column} takes values only`)
  return { ...node, value: sealValue(column, node.value, sealer) } as OperationNode
}

function sealValue(column: string, value: unknown, sealer: ColumnSealer): unknown {
  const type = SEALED_COLUMNS.get(column)
  if (type === undefined || typeof value !== 'string') return value
  const sealed = `${SEALED_PREFIX}${Buffer.from(sealer.seal(value, column)).toString('base64')}`
  return type === 'jsonb' ? JSON.stringify(sealed) : sealed
}

interface ListNode extends OperationNode {
  readonly values: readonly unknown[]
}

const LISTS: readonly string[] = ['ValuesNode', 'ValueListNode', 'PrimitiveValueListNode']

function isList(node: OperationNode): node is ListNode {
  return LISTS.includes(node.kind)
}

function listOf(node: ListNode, change: (value: unknown, index: number) => unknown): ListNode {
  return { ...node, values: node.values.map(change) }
}

/** Returns the name in a column node or in a reference to it; empty for anything else. */
function nameOf(node: OperationNode): string {
  if (!('column' in node)) return ''
  const { column } = node as { column: OperationNode & { name?: string } }
  return column.name ?? nameOf(column)
}

/** Seals the urls that were stored as plain text while the deployment had no key. `db` has sealed columns. */
export function sealStoredUrls(db: Db): Promise<void> {
  return transact(db, (tx) => sealUrls(tx, 'plain'))
}

/** The JSON types of a list of urls: an array is plain, a string is sealed. */
const JSON_TYPES = { plain: ['array'], all: ['array', 'string'] } as const

/**
 * Seals the urls that are plain text, or all of them again. `tx` has sealed columns, so each row only has to
 * be read and written.
 */
export async function sealUrls(tx: Tx, which: keyof typeof JSON_TYPES): Promise<void> {
  const types = sql.join(JSON_TYPES[which])
  // The order of locks: locks/lock-order.md.
  const relayers = await tx
    .selectFrom('relayers')
    .select(['id', 'custom_rpc_urls'])
    .where(sql<boolean>`jsonb_typeof(custom_rpc_urls) in (${types})`)
    .forUpdate()
    .execute()
  for (const { id, custom_rpc_urls } of relayers)
    await tx
      .updateTable('relayers')
      .set({ custom_rpc_urls: JSON.stringify(custom_rpc_urls) })
      .where('id', '=', id)
      .execute()
  const networks = await tx
    .selectFrom('network_urls')
    .selectAll()
    .where(sql<boolean>`jsonb_typeof(rpc_urls) in (${types})`)
    .forUpdate()
    .execute()
  for (const { network_type, network, rpc_urls } of networks)
    await tx
      .updateTable('network_urls')
      .set({ rpc_urls: JSON.stringify(rpc_urls) })
      .where('network_type', '=', network_type)
      .where('network', '=', network)
      .execute()
  const privateUrls = await tx
    .selectFrom('network_private_urls')
    .selectAll()
    .where(sql<boolean>`jsonb_typeof(private_rpc_urls) in (${types})`)
    .forUpdate()
    .execute()
  for (const { network_type, network, private_rpc_urls } of privateUrls)
    await tx
      .updateTable('network_private_urls')
      .set({ private_rpc_urls: JSON.stringify(private_rpc_urls) })
      .where('network_type', '=', network_type)
      .where('network', '=', network)
      .execute()
  const notifications = await tx
    .selectFrom('notifications')
    .select(['id', 'url'])
    .where('url', 'not like', which === 'all' ? '' : `${SEALED_PREFIX}%`)
    .forUpdate()
    .execute()
  for (const { id, url } of notifications)
    await tx.updateTable('notifications').set({ url }).where('id', '=', id).execute()
  const proposals = await tx
    .selectFrom('proposals')
    .select(['id', 'proposed_input'])
    .where('proposed_input', 'not like', which === 'all' ? '' : `${SEALED_PREFIX}%`)
    .forUpdate()
    .execute()
  for (const { id, proposed_input } of proposals)
    await tx.updateTable('proposals').set({ proposed_input }).where('id', '=', id).execute()
}
