import type { Schemas } from '../../src/contract/operations.ts'
import type { AnyTransaction } from '../../test/support/service.ts'
import type { Stage } from './stage.ts'

export type Transaction = AnyTransaction

/** A body of the API. */
export interface Data<T> {
  readonly data: T
}

/** A status that takes longer than this will not come, in ms. */
const TIMEOUT_MS = 15_000

/** Waits until the transaction has this status, and whatever else is wanted of it. */
export async function reach(
  stage: Stage,
  { relayer_id, id }: Transaction,
  status: Transaction['status'],
  also: (transaction: Transaction) => boolean = () => true,
): Promise<Transaction> {
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    const { data } = await stage.api<Data<Transaction>>('GET', `/relayers/${relayer_id}/transactions/${id}`)
    if (data.status === status && also(data)) return data
    if (Date.now() > deadline)
      throw new Error(`the transaction is still ${data.status}: ${data.status_reason ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Sends a request as this relayer. */
export async function send(stage: Stage, relayer: Schemas['Relayer'], body: object): Promise<Transaction> {
  return (await stage.api<Data<Transaction>>('POST', `/relayers/${relayer.id}/transactions`, body)).data
}

/** Puts another request in its place. */
export async function replaceBy(
  stage: Stage,
  { relayer_id, id }: Transaction,
  body: object,
): Promise<Transaction> {
  return (await stage.api<Data<Transaction>>('PUT', `/relayers/${relayer_id}/transactions/${id}`, body)).data
}
