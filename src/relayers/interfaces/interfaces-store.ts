import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import type { ContractInterfacesTable } from '../../database/tables/relayers.ts'
import { fingerprintOf } from '../../lib/hash.ts'

/** The columns of a list, without the documents. */
const SUMMARY = [
  'relayer_id',
  'address',
  'name',
  'created_at',
  'updated_at',
  sql<number>`(select count(*)::integer from jsonb_object_keys(functions))`.as('function_count'),
] as const

/** Lists the interfaces of a relayer in the order of their addresses. `total` counts all of them. */
export async function listInterfaces(
  db: Db,
  {
    relayerId,
    offset,
    limit,
  }: { readonly relayerId: string; readonly offset: number; readonly limit: number },
): Promise<{ items: InterfaceSummary[]; total: number }> {
  const [rows, total] = await Promise.all([
    db
      .selectFrom('contract_interfaces')
      .select(SUMMARY)
      .where('relayer_id', '=', relayerId)
      .orderBy('address')
      .offset(offset)
      .limit(limit)
      .execute(),
    countInterfaces(db, relayerId),
  ])
  return { items: rows.map(toSummary), total }
}

/** Counts the interfaces of a relayer. */
export async function countInterfaces(db: Db, relayerId: string): Promise<number> {
  const { total } = await db
    .selectFrom('contract_interfaces')
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .where('relayer_id', '=', relayerId)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** Reads one interface; undefined if none is registered for the address. */
export async function findInterface(
  db: Db,
  { relayerId, address }: InterfaceKey,
): Promise<ContractInterface | undefined> {
  const row = await db
    .selectFrom('contract_interfaces')
    .select([...SUMMARY, 'document'])
    .where('relayer_id', '=', relayerId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row && { ...toSummary(row), document: row.document }
}

/**
 * Stores an interface, replacing the current one of the address. The caller holds the lock of the relayer.
 */
export async function saveInterface(
  tx: Tx,
  { relayerId, address }: InterfaceKey,
  { name, document, functions, registeredBy }: InterfaceContent & { readonly registeredBy: string },
): Promise<void> {
  const values = {
    name: name ?? null,
    document: JSON.stringify(document),
    functions: JSON.stringify(functions),
    registered_by: registeredBy,
  }
  await tx
    .insertInto('contract_interfaces')
    .values({ relayer_id: relayerId, address, ...values })
    .onConflict((conflict) =>
      conflict.columns(['relayer_id', 'address']).doUpdateSet({ ...values, updated_at: sql<Date>`now()` }),
    )
    .execute()
}

/** Deletes an interface. */
export async function deleteInterface(tx: Tx, { relayerId, address }: InterfaceKey): Promise<void> {
  await tx
    .deleteFrom('contract_interfaces')
    .where('relayer_id', '=', relayerId)
    .where('address', '=', address)
    .execute()
}

/** Deletes every interface of a relayer. */
export async function deleteInterfacesOf(tx: Tx, relayerId: string): Promise<void> {
  await tx.deleteFrom('contract_interfaces').where('relayer_id', '=', relayerId).execute()
}

/** Reads the functions of the interfaces of these contracts of a relayer, by address, in one query. */
export async function findFunctions(
  db: Db,
  relayerId: string,
  addresses: readonly string[],
): Promise<Map<string, readonly object[]>> {
  if (addresses.length === 0) return new Map()
  const rows = await db
    .selectFrom('contract_interfaces')
    .select(['address', 'functions'])
    .where('relayer_id', '=', relayerId)
    .where(sql<boolean>`address = any(${addresses}::text[])`)
    .execute()
  return new Map(rows.map(({ address, functions }) => [address, Object.values(functions)]))
}

/** The events of a registered interface, and the name of its contract. */
export interface RegisteredEvents {
  readonly contractName: string | undefined
  /** Items of its document. */
  readonly events: readonly object[]
}

/**
 * Reads the events of the interfaces of these contracts of a relayer, by address, in one query. Contracts
 * without an interface are missing.
 */
export async function findEvents(
  db: Db,
  relayerId: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, RegisteredEvents>> {
  if (addresses.length === 0) return new Map()
  const { rows } = await sql<{ address: string; name: string | null; events: object[] | null }>`
    select address, name, (
      select jsonb_agg(item) from jsonb_array_elements(document) as item where item ->> 'type' = 'event'
    ) as events
    from contract_interfaces where relayer_id = ${relayerId} and address = any(${addresses}::text[])`.execute(
    db,
  )
  return new Map(
    rows.map(({ address, name, events }) => [
      address,
      { contractName: name ?? undefined, events: events ?? [] },
    ]),
  )
}

/** A call of a contract, to read the called function. */
export interface CalledFunction extends InterfaceKey {
  /** The key that the call begins with. */
  readonly key: string
  /**
   * The id of the transaction, while it awaits an approval: an interface of its sender does not count then.
   */
  readonly awaiting?: string | undefined
}

/** A function of a registered interface. */
export interface RegisteredFunction extends CalledFunction {
  readonly contractName: string | undefined
  /** Undefined if the interface does not have the function. */
  readonly called: object | undefined
}

/**
 * Reads the called functions in one query. A call of a contract without an interface is left out, and so is
 * one that awaits an approval where its sender registered the interface.
 */
export async function findCalled(db: Db, calls: readonly CalledFunction[]): Promise<RegisteredFunction[]> {
  if (calls.length === 0) return []
  const { rows } = await sql<{
    relayer_id: string
    address: string
    key: string
    awaiting: string | null
    name: string | null
    called: object | null
  }>`
    select c.relayer_id, c.address, c.key, c.awaiting, i.name, i.functions -> c.key as called
    from unnest(${calls.map(({ relayerId }) => relayerId)}::text[], ${calls.map(({ address }) => address)}::text[],
      ${calls.map(({ key }) => key)}::text[], ${calls.map(({ awaiting }) => awaiting ?? null)}::text[])
      as c (relayer_id, address, key, awaiting)
    join contract_interfaces i on i.relayer_id = c.relayer_id and i.address = c.address
    where c.awaiting is null
      or i.registered_by <> (select requested_by from transactions where transactions.id = c.awaiting)`.execute(
    db,
  )
  return rows.map(({ relayer_id, address, key, awaiting, name, called }) => ({
    relayerId: relayer_id,
    address,
    key,
    awaiting: awaiting ?? undefined,
    contractName: name ?? undefined,
    called: called ?? undefined,
  }))
}

type SummaryRow = Omit<Selectable<ContractInterfacesTable>, 'document' | 'functions' | 'registered_by'> & {
  function_count: number
}

function toSummary(row: SummaryRow): InterfaceSummary {
  return {
    relayerId: row.relayer_id,
    address: row.address,
    name: row.name ?? undefined,
    functionCount: row.function_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The interface of a contract that a caller registers, as its chain has read it. */
export interface InterfaceContent {
  /** The name of the contract for people. */
  readonly name: string | undefined
  readonly document: readonly object[]
  /** The functions of the document by the key that a call begins with. */
  readonly functions: Readonly<Record<string, object>>
}

/** The place of an interface. */
export interface InterfaceKey {
  readonly relayerId: string
  /** The address of the contract in the canonical spelling of its chain. */
  readonly address: string
}

/** A registered interface without its functions, for lists. */
export interface InterfaceSummary extends InterfaceKey {
  readonly name: string | undefined
  readonly functionCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A registered interface. */
export interface ContractInterface extends InterfaceSummary {
  readonly document: readonly object[]
}

/** The interface as the audit log shows it: its hash in place of what can be 256 KiB. */
export function auditedInterface({ address, name, functionCount, document }: ContractInterface) {
  return { address, name, functions: functionCount, sha256: fingerprintOf(document) }
}
