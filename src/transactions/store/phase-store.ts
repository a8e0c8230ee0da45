import { sql } from 'kysely'

// The conditions have literals, because a partial index applies in every plan only then.

/** The condition that a transaction is not final. */
export const IS_OPEN = sql<boolean>`phase in ('pending', 'signed')`

/** The condition that a transaction is signed and not final. */
export const IS_SIGNED = sql<boolean>`phase = 'signed'`

/**
 * The condition that a transaction is not undecided. Nothing of an undecided one can be included any more, or it was included already, so it
 * is not broadcast, keeps nobody waiting and reserves nothing.
 */
export const IS_NOT_UNDECIDED = sql<boolean>`undecided_since is null`

/** The condition that a transaction is signed, no block is known to include it, and one still can. */
export const IS_IN_FLIGHT = sql<boolean>`(phase = 'signed' and status <> 'mined' and undecided_since is null)`

/** The condition that a transaction is not final and no block includes it. */
export const IS_UNMINED = sql<boolean>`(phase in ('pending', 'signed') and status <> 'mined')`
