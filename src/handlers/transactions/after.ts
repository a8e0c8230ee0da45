import type { Principal } from '../../access/principal.ts'
import { AppError } from '../../errors.ts'
import { confirmsFinally, networkId } from '../../networks/network.ts'
import { errorAtItem, type SendItem } from '../../transactions/accept/accept.ts'
import { predecessorNotFound } from '../../transactions/accept/await-predecessor.ts'
import { findVisiblePredecessor } from '../../transactions/after/after-store.ts'
import { evaluateAfter } from '../../transactions/after/predecessor.ts'
import type { RequestBody } from '../codecs/codec.ts'
import type { CoreParts, RelayerParts } from '../service.ts'

interface Reading extends Pick<CoreParts, 'db'>, Pick<RelayerParts, 'runtimesOf'> {
  readonly principal: Principal
}

/**
 * Reads the transaction that a request has to wait for. A key that may not read it gets the same refusal as
 * for one that does not exist; a key without the right to read sees its own transactions.
 * @throws AppError `transaction_not_found`, `invalid_request` for a finality that its network does not have
 */
export async function readAfter(
  { db, runtimesOf, principal: { id, visibility, may } }: Reading,
  after: RequestBody['after'],
): Promise<SendItem['after']> {
  if (after === undefined) return undefined
  const { transaction_id: transactionId, state = 'confirmed', on_failure: onFailure = 'cancel' } = after
  const requestedBy = may('transactions:read') ? undefined : id
  const found = await findVisiblePredecessor(db, transactionId, { visibility, requestedBy })
  if (found === undefined) throw predecessorNotFound(transactionId)
  if (state === 'final') await requireFinality(found.relayerId, runtimesOf)
  const isOver = evaluateAfter({ state, onFailure }, found) === 'release'
  return { transactionId, relayerId: found.relayerId, state, onFailure, isOver }
}

/** Refuses to wait for finality on a network that confirms blocks before they are final. */
async function requireFinality(relayerId: string, runtimesOf: RelayerParts['runtimesOf']): Promise<void> {
  const network = (await runtimesOf([relayerId])).get(relayerId)?.network
  if (network !== undefined && confirmsFinally(network)) return
  const where = network === undefined ? 'the network of a removed relayer' : networkId(network)
  throw new AppError(
    'invalid_request',
    `body.after.state: expected mined or confirmed, because ${where} confirms blocks that are not final; "final" needs "finality": "finalized" in the configuration of the network.`,
  )
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
