import { type RawBuilder, sql } from 'kysely'
import type { Visibility } from './principal.ts'

/** A condition that is always true. */
const ALWAYS = sql<boolean>`true`

/** A condition that is never true: that of an empty list. */
const NEVER = sql<boolean>`false`

/** Returns the condition that a row of `relayers` is visible. `table` is its name in the query. */
export function visibleRelayer({ relayers, networks }: Visibility, table = 'relayers'): RawBuilder<boolean> {
  // A key sees the further accounts of a relayer with it.
  const id = sql.ref(`${table}.pool_id`)
  const network = sql`${sql.ref(`${table}.network_type`)} || ':' || ${sql.ref(`${table}.network`)}`
  const ofIds = relayers?.map((pattern) =>
    pattern.endsWith('*') ? sql`starts_with(${id}, ${pattern.slice(0, -1)})` : sql`${id} = ${pattern}`,
  )
  const ofNetworks = networks?.map((wanted) => sql`${network} = ${wanted}`)
  return sql<boolean>`(${anyOf(ofIds)} and ${anyOf(ofNetworks)})`
}

function anyOf(conditions: RawBuilder<unknown>[] | undefined): RawBuilder<unknown> {
  if (conditions === undefined) return ALWAYS
  return conditions.length === 0 ? NEVER : sql`(${sql.join(conditions, sql` or `)})`
}

/**
 * Returns the condition that a row belongs to a visible relayer, present or removed. `column` has the id of
 * the relayer.
 */
export function ofVisibleRelayer(visibility: Visibility, column: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from relayers where relayers.id = ${sql.ref(column)} and ${visibleRelayer(visibility)})`
}

/**
 * Returns the condition that a visible relayer uses a notification. `column` has the id of the notification.
 */
export function usedByVisibleRelayer(visibility: Visibility, column: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from relayers where relayers.notification_id = ${sql.ref(column)} and relayers.removed_at is null
      and ${visibleRelayer(visibility)})`
}

/** Returns the condition that an event is about a visible relayer. `column` has the number of the event. */
export function ofVisibleEvent(visibility: Visibility, column: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from events join relayers on relayers.id = events.relayer_id
    where events.number = ${sql.ref(column)} and ${visibleRelayer(visibility)})`
}
