import { TransactionEndedError, TransactionUnseenError } from '../errors/transaction-errors.ts'
import type { Body } from '../operation-types.ts'
import type { RelayerReference } from '../relayer-reference.ts'
import type { Transaction } from './wait-for.ts'

/** Settings of a send that waits. */
interface SendOptions {
  /** Ends the wait. What the service has accepted goes on. */
  readonly signal?: AbortSignal
}

/**
 * Sends a transaction, and resolves to it as soon as it is signed.
 *
 * @throws TransactionEndedError if it ended before, TransactionUnseenError when the service accepted it and then refuses to show it, and every
 * error of the send, which leaves no transaction
 */
export async function sendUntilSigned(
  { client, relayerId }: RelayerReference,
  body: Body<'sendTransaction'>,
  options: SendOptions = {},
): Promise<Transaction> {
  const { id } = await client.transactions.send(relayerId, body, options)
  return client.transactions.waitFor(relayerId, id, 'sent', options).catch((error: unknown) => {
    const isTold = error instanceof TransactionEndedError || options.signal?.aborted === true
    throw isTold ? error : new TransactionUnseenError(id, error)
  })
}
