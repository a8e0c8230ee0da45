import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import { storableText } from '../../database/sql-helpers.ts'
import type { KeyCreationsTable } from '../../database/tables/relayers.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Curve } from '../signer.ts'
import type { KeyFields } from './key-maker.ts'

/**
 * `requested`: the key may be there or not · `made`: it is there, and has not proved that it signs ·
 * `usable`: it has, and the signer was stored.
 */
export type CreationState = 'requested' | 'made' | 'usable'

/** The accounts of a key, by type of network. */
export type Addresses = Readonly<Partial<Record<'evm' | 'solana' | 'stellar', string>>>

/** A key that a key service created, or is to create. */
export interface KeyCreation {
  readonly signerId: string
  readonly type: string
  readonly curve: Curve
  /** The public part of the place of the key, by wire names. */
  readonly config: object
  readonly keyName: string
  readonly state: CreationState
  /** The fields that name the key in the configuration of the signer. Absent while it is requested. */
  readonly keyFields?: KeyFields
  /** Until then a call that creates the key can be on its way. Absent if there was none. */
  readonly callUntil?: Date
  /** The last failure, as a sentence. */
  readonly problem?: string
  readonly addresses?: Addresses
  readonly createdAt: Date
}

/** The part of a creation that is stored before the first call. */
export type NewCreation = Pick<
  KeyCreation,
  'signerId' | 'type' | 'curve' | 'config' | 'keyName' | 'createdAt'
>

/** Stores an intent. Returns false if there is one for this signer. */
export async function insertCreation(tx: Tx, wanted: NewCreation): Promise<boolean> {
  const { signerId, type, curve, config, keyName, createdAt } = wanted
  const inserted = await tx
    .insertInto('key_creations')
    .values({
      signer_id: signerId,
      type,
      curve,
      config: JSON.stringify(config),
      key_name: keyName,
      created_at: createdAt,
    })
    .onConflict((conflict) => conflict.column('signer_id').doNothing())
    .returning('signer_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Reads the creation of a signer's key. */
export async function findCreation(db: Db, signerId: string): Promise<KeyCreation | undefined> {
  const row = await db
    .selectFrom('key_creations')
    .selectAll()
    .where('signer_id', '=', signerId)
    .executeTakeFirst()
  return row && toCreation(row)
}

/** Lists creations, newest first. `total` counts all of them. */
export async function listCreations(
  db: Db,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: KeyCreation[]; total: number }> {
  const rows = await db
    .selectFrom('key_creations')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('signer_id')
    .offset(offset)
    .limit(limit)
    .execute()
  const { total } = await db
    .selectFrom('key_creations')
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(toCreation), total: Number(total) }
}

/**
 * Reserves a call that creates the key, so that no other one is made until it has surely arrived. Returns
 * false while one can be on its way, or when the key is there.
 */
export async function reserveCall(
  db: Db,
  signerId: string,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('key_creations')
    .set({ call_until: until })
    .where('signer_id', '=', signerId)
    .where('state', '=', 'requested')
    .where((eb) => eb.or([eb('call_until', 'is', null), eb('call_until', '<=', now)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Stores what is known after a call without a key: until when it can be on its way, and its failure. */
export async function noteFailure(
  db: Db,
  signerId: string,
  failure: { readonly callUntil?: Date | null; readonly problem: string },
): Promise<void> {
  const { callUntil, problem } = failure
  await db
    .updateTable('key_creations')
    .set({ problem: storableText(problem), ...(callUntil !== undefined && { call_until: callUntil }) })
    .where('signer_id', '=', signerId)
    .execute()
}

/** Stores that the key is there. */
export async function noteMade(db: Db, signerId: string, fields: KeyFields): Promise<void> {
  await db
    .updateTable('key_creations')
    .set({ state: 'made', key_fields: JSON.stringify(fields), problem: null })
    .where('signer_id', '=', signerId)
    .where('state', '=', 'requested')
    .execute()
}

/** Stores that the key signs, with its accounts. Returns false if the creation is no longer known. */
export async function noteUsable(tx: Tx, signerId: string, addresses: Addresses): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('key_creations')
    .set({ state: 'usable', addresses: JSON.stringify(addresses), problem: null })
    .where('signer_id', '=', signerId)
    .where('state', '<>', 'requested')
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Forgets a creation, unless a call that creates its key can be on its way. Returns the creation that was
 * there, and whether it still is.
 */
export async function deleteCreation(
  tx: Tx,
  signerId: string,
  now: Date,
): Promise<{ readonly found: KeyCreation | undefined; readonly isDeleted: boolean }> {
  // The order of locks: database/locks/lock-order.md. No row refers to this one.
  const row = await tx
    .selectFrom('key_creations')
    .selectAll()
    .where('signer_id', '=', signerId)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return { found: undefined, isDeleted: false }
  const found = toCreation(row)
  if (found.state === 'requested' && found.callUntil !== undefined && found.callUntil > now)
    return { found, isDeleted: false }
  await tx.deleteFrom('key_creations').where('signer_id', '=', signerId).execute()
  return { found, isDeleted: true }
}

function toCreation(row: Selectable<KeyCreationsTable>): KeyCreation {
  return omitUndefined({
    signerId: row.signer_id,
    type: row.type,
    // The table checks both.
    curve: row.curve as Curve,
    state: row.state as CreationState,
    config: row.config,
    keyName: row.key_name,
    keyFields: (row.key_fields as KeyFields | null) ?? undefined,
    callUntil: row.call_until ?? undefined,
    problem: row.problem ?? undefined,
    addresses: (row.addresses as Addresses | null) ?? undefined,
    createdAt: row.created_at,
  })
}
