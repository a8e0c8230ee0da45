import type { Input } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { fingerprintOf } from '../../lib/fingerprint.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { BatchItem } from '../../transactions/accept/accept-batch.ts'
import { errorAtItem } from '../../transactions/accept/error-at-item.ts'
import { type CallContext, withEncodedCalls } from './encoded-call.ts'
import { readRequest } from './request.ts'

type BatchBody = Input<'sendTransactionBatch'>['body']

/**
 * Reads the items of a batch as requests of the relayer's network type. The fingerprint leaves the key out, so an item is the same request as
 * a single one with its key in the header.
 * @throws AppError 400 with the item: `wrong_network_type`, or `invalid_request` for a key that an earlier item has
 */
export async function readBatch(
  context: CallContext,
  { transactions }: BatchBody,
  relayer: Relayer,
): Promise<BatchItem[]> {
  const places = new Map<string, number>()
  const placed = transactions.map((body, index) => ({ body, place: `body.transactions[${index}]` }))
  const encoded = await withEncodedCalls(context, placed)
  return encoded.map(({ idempotency_key: key, ...body }, index) => {
    try {
      const item = { request: readRequest(body, relayer, context.chain), idempotencyKey: undefined }
      if (key === undefined) return item
      requireNew(key, places)
      places.set(key, index)
      const idempotencyKey = { key, fingerprint: fingerprintOf(body), field: 'idempotency_key' }
      return { ...item, idempotencyKey }
    } catch (error) {
      throw errorAtItem(index, error)
    }
  })
}

function requireNew(key: string, places: ReadonlyMap<string, number>): void {
  const earlier = places.get(key)
  if (earlier === undefined) return
  throw new AppError(
    'invalid_request',
    `idempotency_key: expected a key that no other item has; transactions[${earlier}] has the same one.`,
  )
}
