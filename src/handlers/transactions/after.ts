import type { Principal } from '../../access/principal.ts'
import type { Db } from '../../database/db.ts'
import { errorAtItem, type SendItem } from '../../transactions/accept/accept.ts'
import { predecessorNotFound } from '../../transactions/accept/await-predecessor.ts'
import { findVisiblePredecessor } from '../../transactions/after/after-store.ts'
import { evaluateAfter } from '../../transactions/after/predecessor.ts'
import type { RequestBody } from '../codecs/codec.ts'

interface Reading {
  readonly db: Db
  readonly principal: Principal
}

/**
 * Reads the transaction that a request has to wait for. A key that may not read it gets the same refusal as
 * for one that does not exist; a key without the right to read sees its own transactions.
 * @throws AppError `transaction_not_found`
 */
export async function readAfter(
  { db, principal: { id, visibility, may } }: Reading,
  after: RequestBody['after'],
): Promise<SendItem['after']> {
  if (after === undefined) return undefined
  const { transaction_id: transactionId, state = 'confirmed', on_failure: onFailure = 'cancel' } = after
  const requestedBy = may('transactions:read') ? undefined : id
  const found = await findVisiblePredecessor(db, transactionId, { visibility, requestedBy })
  if (found === undefined) throw predecessorNotFound(transactionId)
  const isOver = evaluateAfter({ state, onFailure }, found) === 'release'
  return { transactionId, relayerId: found.relayerId, state, onFailure, isOver }
}

/** Does the same for the items of a batch. */
export async function readAfterOfItems(
  reading: Reading,
  items: readonly SendItem[],
  bodies: readonly RequestBody[],
): Promise<SendItem[]> {
  return Promise.all(
    items.map(async (item, index) => {
      try {
        return { ...item, after: await readAfter(reading, bodies[index]?.after) }
      } catch (error) {
        throw errorAtItem(index, error)
      }
    }),
  )
}
