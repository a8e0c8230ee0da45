import { RelayerApiError } from '../errors/api-error.ts'
import type { Body, Schemas } from '../operation-types.ts'
import { sendUntilSigned } from '../transactions/send-until-signed.ts'
import type { Transaction } from '../transactions/wait-for.ts'
import { BoundedMap } from './bounded-map.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import type { Fields } from './parameters.ts'

/** The transactions of a relayer by the hashes of their attempts, as far as this provider has seen them. */
export interface SentTransactions {
  /** Sends a transaction, and resolves to it as soon as it is signed. */
  send(body: Body<'sendTransaction'>): Promise<Transaction>
  /** The transaction that has an attempt with this hash, as it is now; undefined when the provider knows none. */
  find(hash: string): Promise<Transaction | undefined>
  /** Learns of a transaction that a node shows, which another process may have sent. */
  learn(seen: Fields): Promise<void>
}

/** The provider forgets the oldest hashes when it knows more: each needs about 200 bytes. */
const MOST_HASHES = 10_000

/** Makes the memory of a provider. */
export function createSentTransactions({ client, relayerId, address }: EvmRelayer): SentTransactions {
  const ids = new BoundedMap<string, string>(MOST_HASHES)

  function remember({ id, attempts = [] }: Transaction): void {
    for (const { hash } of attempts) ids.set(hash.toLowerCase(), id)
  }

  return {
    send: async (body) => {
      const transaction = await sendUntilSigned({ client, relayerId }, body)
      remember(transaction)
      return transaction
    },
    find: async (hash) => {
      const id = ids.get(hash.toLowerCase())
      return id === undefined ? undefined : client.transactions.get(relayerId, id)
    },
    learn: async ({ hash, from, nonce }) => {
      if (typeof hash !== 'string' || typeof nonce !== 'string' || ids.has(hash.toLowerCase())) return
      if (String(from).toLowerCase() !== (await address()).toLowerCase()) return
      const transaction = await client.transactions.getByNonce(relayerId, BigInt(nonce)).catch(orNone)
      if (transaction) remember(transaction)
    },
  }
}

/** The service did not send it, or the API key may not see it. */
const UNKNOWN: ReadonlySet<Schemas['ErrorCode'] | undefined> = new Set([
  'transaction_not_found',
  'insufficient_scope',
])

function orNone(error: unknown): undefined {
  if (!(error instanceof RelayerApiError && UNKNOWN.has(error.code))) throw error
}
